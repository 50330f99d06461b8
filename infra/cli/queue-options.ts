import type { SqsQueues } from '../process/queues.ts';
import { UsageError, type Values } from './option.ts';
import type { queueOptions } from './options.ts';
import { isFlag, named, quoted } from './sources/origins.ts';

/** SQS permits 80 characters; the longest name of a queue of ours needs 34 of them. */
const PREFIX = /^[A-Za-z0-9_-]{1,46}$/;

/** Returns which queues in SQS are used; undefined for the queue in this process. @throws UsageError */
export function queuesOf(values: Values<typeof queueOptions>): SqsQueues | undefined {
  const { 'sqs-endpoint': endpoint, 'replace-seeds': replaceSeeds } = values;
  if (endpoint === undefined) {
    const unused = (['queue-prefix', 'replace-seeds'] as const).find(
      (flag) => values[flag] !== undefined && isFlag(values, flag),
    );
    if (unused === undefined) return undefined;
    throw new UsageError(`${named(values, unused)} is for queues in SQS; add --sqs-endpoint URL`);
  }
  endpointOf(values);
  return { endpoint, prefix: prefixOf(values), replaceSeeds };
}

/** @throws UsageError */
export function endpointOf(values: { 'sqs-endpoint'?: string }): string | undefined {
  const endpoint = values['sqs-endpoint'];
  if (endpoint === undefined || URL.canParse(endpoint)) return endpoint;
  throw new UsageError(`${quoted(values, 'sqs-endpoint', endpoint)} is not a URL such as http://127.0.0.1:4566`);
}

/** @throws UsageError */
export function prefixOf(values: { 'queue-prefix'?: string }): string | undefined {
  const prefix = values['queue-prefix'];
  if (prefix === undefined || PREFIX.test(prefix)) return prefix;
  throw new UsageError(
    `${quoted(values, 'queue-prefix', prefix)} is not 1 to 46 letters, digits, - or _, such as shoot-flux-prod-`,
  );
}
