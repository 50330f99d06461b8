import { sinkAt } from '../../events/cloudevents/sink.ts';
import type { OpenSender } from '../../events/transport.ts';
import { kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { untilSignal } from '../process/signals.ts';
import { type OwnProcess, startWatching } from '../process/watching.ts';
import { clusterNotes, heartbeatOf, watchedClustersOf } from './clusters.ts';
import { command, exitCodes } from './command.ts';
import { UsageError, type Values, type Variables } from './option.ts';
import { destinationOptions, heartbeatOptions, logOptions, probeOptions, watchedClusterOptions } from './options.ts';
import { logLevelOf, portOf } from './settings.ts';
import { isFlag, named, quoted } from './sources.ts';

export default command({
  name: 'watch',
  summary: 'Watch the garden, seeds or both, and send changes to functions that run elsewhere.',
  options: { ...watchedClusterOptions, ...destinationOptions, ...probeOptions, ...heartbeatOptions, ...logOptions },
  isService: true,
  notes: `${clusterNotes}\nSeveral may watch different clusters for the same functions; two for the same cluster do no harm.`,
  async run(values, _, terminal) {
    const watched = await watchedClustersOf(values);
    const { files, seeds } = watched;
    const clusters = { garden: files[GARDEN] !== undefined, seeds };
    const destination = destinationOf(values, terminal.environment);
    const heartbeat = await heartbeatOf(values, watched);
    const log = createLog(logLevelOf(values));
    const signalled = untilSignal();
    const watching = await startWatching({
      credentials: () => kubeconfigFiles(files),
      clusters,
      open: (definitions, own) => destination.open(definitions, seeds, own),
      log,
      port: portOf(values, 'port'),
      heartbeat,
    });
    const names = [...(clusters.garden ? ['the garden'] : []), ...seeds].join(', ');
    const probes = watching.port === undefined ? '' : `, probes and metrics on port ${watching.port}`;
    terminal.err(`shoot-flux watches ${names} and sends to ${destination.name}${probes}\n`);
    log.info('stopping', { signal: await signalled });
    await watching.stop();
    return exitCodes.success;
  },
});

/** SQS permits 80 characters; the longest name of a queue of ours needs 34 of them. */
const PREFIX = /^[A-Za-z0-9_-]{1,46}$/;

/** Where `watch` sends changes. */
interface Destination {
  /** Names it in the first line of the process. */
  name: string;
  /** @param seeds the seeds that are watched */
  open(definitions: FunctionDefinition[], seeds: string[], own: OwnProcess): Promise<OpenSender>;
}

/**
 * Returns where changes are sent: to the queues in SQS that `--queue-prefix` names, or as CloudEvents to a sink.
 * @throws UsageError
 */
export function destinationOf(values: Values<typeof destinationOptions>, environment: Variables): Destination {
  const prefix = prefixOf(values);
  const { sink } = values;
  if (prefix !== undefined && sink !== undefined) {
    throw new UsageError(`${named(values, 'queue-prefix')} and ${named(values, 'sink')} exclude each other`);
  }
  if (sink !== undefined) return sinkDestination(sink, values, environment);
  if (prefix === undefined) throw new UsageError('option --queue-prefix TEXT or --sink URL is required');
  if (values['events-port'] !== undefined && isFlag(values, 'events-port')) {
    throw new UsageError('--events-port is for CloudEvents; add --sink URL');
  }
  const endpoint = endpointOf(values);
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
  const eventsPort = portOf(values, 'events-port');
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

/** @throws UsageError */
function endpointOf(values: { 'sqs-endpoint'?: string }): string | undefined {
  const endpoint = values['sqs-endpoint'];
  if (endpoint === undefined || URL.canParse(endpoint)) return endpoint;
  throw new UsageError(`${quoted(values, 'sqs-endpoint', endpoint)} is not a URL such as http://127.0.0.1:4566`);
}

/** @throws UsageError */
function prefixOf(values: { 'queue-prefix'?: string }): string | undefined {
  const prefix = values['queue-prefix'];
  if (prefix === undefined || PREFIX.test(prefix)) return prefix;
  throw new UsageError(
    `${quoted(values, 'queue-prefix', prefix)} is not 1 to 46 letters, digits, - or _, such as shoot-flux-prod-`,
  );
}
