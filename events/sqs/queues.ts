import type { FunctionDefinition } from '../../shared/runtime/definition.ts';

/** The queue that holds changes until they are due, and its Lambda. It is the only one that is no FIFO queue. */
export const DELAY = 'delay';

/** What the deployment needs to know of the delay queue's Lambda: it is deployed like a function. */
export const delayDefinition: FunctionDefinition = {
  name: DELAY,
  description: 'Sends a change back to the queue of its function when it is due.',
  subscriptions: [],
  resync: false,
  sends: true,
  rights: { garden: [], seed: [] },
};

/** Returns whether a queue keeps the order of each key. */
export function isFifo(name: string): boolean {
  return name !== DELAY;
}

/**
 * Returns the names of a function's queues, or their URLs, which differ only in the name of the queue, as within one
 * account and region.
 * @param prefix of names, which the deployment chooses, or of URLs, for example
 *   `https://sqs.eu-west-1.amazonaws.com/123456789012/shoot-flux-prod-`
 */
export function queueNames(name: string, prefix: string): { queue: string; deadLetterQueue: string } {
  const suffix = isFifo(name) ? '.fifo' : '';
  return { queue: `${prefix}${name}${suffix}`, deadLetterQueue: `${prefix}${name}-dead-letter${suffix}` };
}

/**
 * How long a message stays hidden while a Lambda works on it, and so how long its group waits after a Lambda was killed:
 * twice the function's time. AWS demands once, and advises six times, so that a message is not received again while its
 * invocation is throttled. That does no harm here: the concurrency of the queue is limited before it receives, every
 * write is guarded, and `MAX_RECEIVE_COUNT` allows for it.
 */
export const VISIBILITY_SECONDS = 20;

/**
 * Receives after which SQS moves a message to the dead-letter queue: a quarter of an hour and more of Lambdas that cannot
 * even start. Our own retries (`retry.ts`) leave the queue earlier, with a reason.
 */
export const MAX_RECEIVE_COUNT = 60;

/** Messages in one receive or send. */
export const BATCH_SIZE = 10;

/** The longest DelaySeconds of SQS; longer waits pass through the delay queue several times. */
export const MAX_DELAY_SECONDS = 900;

/** The longest that SQS keeps a message: 14 days. */
export const DEAD_LETTER_RETENTION_SECONDS = 1_209_600;
