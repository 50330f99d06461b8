import { sinkAt } from '../../events/cloudevents/sink.ts';
import { kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { startProduct, type WatchingOptions } from '../process/product.ts';
import { clusterNotes, heartbeatOf, watchedClustersOf } from './clusters.ts';
import { service } from './command.ts';
import { port, UsageError, type Values, type Variables } from './option.ts';
import { destinationOptions, heartbeatOptions, watchedClusterOptions } from './options.ts';
import { isFlag, named } from './sources.ts';

export default service({
  name: 'watch',
  summary: 'Watch the garden, seeds or both, and send changes to functions that run elsewhere.',
  options: {
    ...watchedClusterOptions,
    ...destinationOptions,
    port: port('Serve /healthz, /readyz and /metrics on this port.', 'not at all'),
    ...heartbeatOptions,
  },
  notes: `${clusterNotes}\nSeveral may watch different clusters for the same functions; two for the same cluster do no harm.`,
  async start(values, _, terminal, log) {
    const watched = await watchedClustersOf(values);
    const { files, seeds } = watched;
    const clusters = { garden: files[GARDEN] !== undefined, seeds };
    const destination = destinationOf(values, seeds, terminal.environment);
    const heartbeat = await heartbeatOf(values, watched);
    const { port, stop } = await startProduct({
      credentials: () => kubeconfigFiles(files),
      open: destination.open,
      port: values.port,
      ...{ clusters, log, heartbeat },
    });
    const names = [...(clusters.garden ? ['the garden'] : []), ...seeds].join(', ');
    const probes = port === undefined ? '' : `, probes and metrics on port ${port}`;
    return { line: `watches ${names} and sends to ${destination.name}${probes}`, stop };
  },
});

/**
 * Returns where changes of these seeds are sent: to queues in SQS, or as CloudEvents to a sink.
 * @returns what names it in the first line of the process, and what opens it
 * @throws UsageError
 */
function destinationOf(
  values: Values<typeof destinationOptions>,
  seeds: string[],
  environment: Variables,
): { name: string; open: WatchingOptions['open'] } {
  const { sink, 'queue-prefix': prefix, 'sqs-endpoint': endpoint, 'events-port': eventsPort } = values;
  if (prefix !== undefined && sink !== undefined) {
    throw new UsageError(`${named(values, 'queue-prefix')} and ${named(values, 'sink')} exclude each other`);
  }
  if (sink !== undefined) {
    const taken = eventsPort === undefined ? '' : ', and takes what waits';
    return {
      name: `the sink ${URL.canParse(sink) ? new URL(sink).host : ''}${taken}`,
      async open(definitions, own) {
        const { openKnativeBridge } = await import('../knative/open-bridge.ts');
        const functions = definitions.map(({ name }) => name);
        return openKnativeBridge({ functions, sink: sinkAt(sink, environment), eventsPort }, own);
      },
    };
  }
  if (prefix === undefined) throw new UsageError('option --queue-prefix TEXT or --sink URL is required');
  if (eventsPort !== undefined && isFlag(values, 'events-port')) {
    throw new UsageError('--events-port is for CloudEvents; add --sink URL');
  }
  return {
    name: `the queues ${prefix}*`,
    async open(definitions) {
      // The SDK of AWS is loaded only where it is used.
      const { openSqsSender } = await import('../../events/sqs/open-sender.ts');
      const opened = await openSqsSender({ definitions, endpoint, prefix, seeds });
      const { withCloudWatch } = await import('../aws/watcher-heartbeat.ts');
      return withCloudWatch(opened, prefix, endpoint);
    },
  };
}
