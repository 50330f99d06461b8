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

/** Where changes are sent; `name` is a function's. */
export interface QueueUrls {
  queue(name: string): string;
  deadLetterQueue(name: string): string;
}

/** Returns whether a queue keeps the order of each key. */
export function isFifo(name: string): boolean {
  return name !== DELAY;
}

/** Returns the names of a function's queues; the deployment chooses the prefix. */
export function queueNames(name: string, prefix: string): { queue: string; deadLetterQueue: string } {
  const suffix = isFifo(name) ? '.fifo' : '';
  return { queue: `${prefix}${name}${suffix}`, deadLetterQueue: `${prefix}${name}-dead-letter${suffix}` };
}

/**
 * Returns queue URLs that differ only in the name of the queue, as within one account and region.
 * @param prefix for example `https://sqs.eu-west-1.amazonaws.com/123456789012/shoot-flux-prod-`
 */
export function prefixedQueueUrls(prefix: string): QueueUrls {
  return {
    queue: (name) => queueNames(name, prefix).queue,
    deadLetterQueue: (name) => queueNames(name, prefix).deadLetterQueue,
  };
}
