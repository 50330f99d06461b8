import type { FunctionDefinition } from '../../shared/runtime/definition.ts';

/** The function whose queue holds changes until they are due. */
export const DELAY = 'delay';

/** Where changes are sent; `name` is a function's. */
export interface QueueUrls {
  queue(name: string): string;
  deadLetterQueue(name: string): string;
}

/** Returns the names of a function's queues; the deployment chooses the prefix. */
export function queueNames(
  { name, queue = 'fifo' }: Pick<FunctionDefinition, 'name' | 'queue'>,
  prefix: string,
): { queue: string; deadLetterQueue: string } {
  const suffix = queue === 'fifo' ? '.fifo' : '';
  return { queue: `${prefix}${name}${suffix}`, deadLetterQueue: `${prefix}${name}-dead-letter${suffix}` };
}

/**
 * Returns queue URLs that differ only in the name of the queue, as within one account and region.
 * @param prefix for example `https://sqs.eu-west-1.amazonaws.com/123456789012/shoot-flux-prod-`
 */
export function prefixedQueueUrls(prefix: string): QueueUrls {
  const names = (name: string) => queueNames({ name, queue: name === DELAY ? 'standard' : 'fifo' }, prefix);
  return { queue: (name) => names(name).queue, deadLetterQueue: (name) => names(name).deadLetterQueue };
}
