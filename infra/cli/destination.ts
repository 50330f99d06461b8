import type { OpenSender } from '../../events/bridge.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { missing } from './clusters.ts';
import type { Values } from './option.ts';
import type { destinationOptions } from './options.ts';
import { endpointOf, prefixOf } from './queue-options.ts';

/** Where `watch` sends changes. */
export interface Destination {
  /** Names it in the first line of the process. */
  name: string;
  /** @param seeds the seeds that are watched */
  open(definitions: FunctionDefinition[], seeds: string[]): Promise<OpenSender>;
}

/** Returns where changes are sent: the queues in SQS that `--queue-prefix` names. @throws UsageError */
export function destinationOf(values: Values<typeof destinationOptions>): Destination {
  const prefix = prefixOf(values) ?? missing('--queue-prefix TEXT');
  const endpoint = endpointOf(values);
  return {
    name: `the queues ${prefix}*`,
    async open(definitions, seeds) {
      // The SDK of AWS is loaded only where it is used.
      const { openSqsSender } = await import('../../events/sqs/open-sender.ts');
      return openSqsSender({ definitions, endpoint, prefix, seeds });
    },
  };
}
