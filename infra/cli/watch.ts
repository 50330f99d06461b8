import { sinkAt } from '../../events/cloudevents/sink.ts';
import type { OpenSender } from '../../events/transport.ts';
import { kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { type OwnProcess, startProduct } from '../process/product.ts';
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
    const destination = destinationOf(values, terminal.environment);
    const heartbeat = await heartbeatOf(values, watched);
    const { port, stop } = await startProduct({
      credentials: () => kubeconfigFiles(files),
      open: (definitions, own) => destination.open(definitions, seeds, own),
      port: values.port,
      ...{ clusters, log, heartbeat },
    });
    const names = [...(clusters.garden ? ['the garden'] : []), ...seeds].join(', ');
    const probes = port === undefined ? '' : `, probes and metrics on port ${port}`;
    return { line: `watches ${names} and sends to ${destination.name}${probes}`, stop };
  },
});

/** Where `watch` sends changes. */
interface Destination {
  /** Names it in the first line of the process. */
  name: string;
  /** @param seeds the seeds that are watched */
  open(definitions: FunctionDefinition[], seeds: string[], own: OwnProcess): Promise<OpenSender>;
}

/** Returns where changes are sent: to queues in SQS, or as CloudEvents to a sink. @throws UsageError */
export function destinationOf(values: Values<typeof destinationOptions>, environment: Variables): Destination {
  const { sink, 'queue-prefix': prefix, 'sqs-endpoint': endpoint } = values;
  if (prefix !== undefined && sink !== undefined) {
    throw new UsageError(`${named(values, 'queue-prefix')} and ${named(values, 'sink')} exclude each other`);
  }
  if (sink !== undefined) return sinkDestination(sink, values, environment);
  if (prefix === undefined) throw new UsageError('option --queue-prefix TEXT or --sink URL is required');
  if (values['events-port'] !== undefined && isFlag(values, 'events-port')) {
    throw new UsageError('--events-port is for CloudEvents; add --sink URL');
  }
  return {
    name: `the queues ${prefix}*`,
    async open(definitions, seeds) {
      // The SDK of AWS is loaded only where it is used.
      const { openSqsSender } = await import('../../events/sqs/open-sender.ts');
      const opened = await openSqsSender({ definitions, endpoint, prefix, seeds });
      const { withCloudWatch } = await import('../aws/watcher-heartbeat.ts');
      return withCloudWatch(opened, prefix, endpoint);
    },
  };
}

function sinkDestination(url: string, values: Values<typeof destinationOptions>, environment: Variables): Destination {
  const eventsPort = values['events-port'];
  const taken = eventsPort === undefined ? '' : ', and takes what waits';
  return {
    name: `the sink ${URL.canParse(url) ? new URL(url).host : ''}${taken}`,
    async open(definitions, _seeds, own) {
      const { openKnativeBridge } = await import('../knative/open-bridge.ts');
      const functions = definitions.map(({ name }) => name);
      return openKnativeBridge({ functions, sink: sinkAt(url, environment), eventsPort }, own);
    },
  };
}
