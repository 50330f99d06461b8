import { sinkAt } from '../../events/cloudevents/sink.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { OpenBridge, OwnProcess } from '../knative/open-bridge.ts';
import { UsageError, type Values, type Variables } from './option.ts';
import type { destinationOptions } from './options.ts';
import { portOf } from './port.ts';
import { isFlag, named, quoted } from './sources/origins.ts';

/** SQS permits 80 characters; the longest name of a queue of ours needs 34 of them. */
const PREFIX = /^[A-Za-z0-9_-]{1,46}$/;

/** Where `watch` sends changes. */
export interface Destination {
  /** Names it in the first line of the process. */
  name: string;
  /** @param seeds the seeds that are watched */
  open(definitions: FunctionDefinition[], seeds: string[], own: OwnProcess): Promise<OpenBridge>;
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
