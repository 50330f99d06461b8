/**
 * How long a message stays hidden while a Lambda works on it, and so how long its key waits after a Lambda was killed:
 * twice the function's time. AWS demands once, and advises six times, so that a message is not received again while its
 * invocation is throttled. That does no harm here: the concurrency of the queue is limited before it receives, every
 * write is guarded, and `MAX_RECEIVE_COUNT` allows for it.
 */
export const VISIBILITY_SECONDS = 20;

/**
 * Receives after which SQS moves a message to the dead-letter queue: a quarter of an hour and more of runs that are killed
 * (out of memory). Our own retries (`retry.ts`) leave the queue earlier, with a reason.
 */
export const MAX_RECEIVE_COUNT = 60;

/** Messages in one receive or send. */
export const BATCH_SIZE = 10;

/** The longest DelaySeconds of SQS; longer waits pass through the delay queue several times. */
export const MAX_DELAY_SECONDS = 900;

/** The longest that SQS keeps a message: 14 days. */
export const DEAD_LETTER_RETENTION_SECONDS = 1_209_600;
