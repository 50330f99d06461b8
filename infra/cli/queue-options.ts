import type { SqsQueues } from '../process/queues.ts';
import { type Option, UsageError, type Values } from './command.ts';

/** Options for queues in SQS. */
export const queueOptions = {
  'sqs-endpoint': {
    type: 'string',
    value: 'URL',
    description: 'Use the queues at this SQS endpoint instead of the queue in this process.',
  },
  'queue-prefix': {
    type: 'string',
    value: 'TEXT',
    description: 'Names of all queues begin with this text; each deployment needs its own. Default: shoot-flux-.',
  },
  'replace-seeds': {
    type: 'boolean',
    description: 'Record the seeds of this process in place of those that are recorded on the queues.',
  },
} as const satisfies Record<string, Option>;

/** SQS permits 80 characters; the longest name of a queue of ours needs 34 of them. */
const PREFIX = /^[A-Za-z0-9_-]{1,46}$/;

/** Returns which queues in SQS are used; undefined for the queue in this process. @throws UsageError */
export function queuesOf(values: Values<typeof queueOptions>): SqsQueues | undefined {
  const { 'sqs-endpoint': endpoint, 'queue-prefix': prefix, 'replace-seeds': replaceSeeds } = values;
  if (endpoint === undefined) {
    const option = prefix !== undefined ? '--queue-prefix' : '--replace-seeds';
    if (prefix === undefined && replaceSeeds === undefined) return undefined;
    throw new UsageError(`${option} is for queues in SQS; add --sqs-endpoint URL`);
  }
  if (!URL.canParse(endpoint)) {
    throw new UsageError(`--sqs-endpoint ${endpoint} is not a URL such as http://127.0.0.1:4566`);
  }
  if (prefix !== undefined && !PREFIX.test(prefix)) {
    throw new UsageError(`--queue-prefix ${prefix} is not 1 to 46 letters, digits, - or _, such as shoot-flux-prod-`);
  }
  return { endpoint, prefix, replaceSeeds };
}
