/** How long a message stays hidden while its function runs: six times the function's time, as Lambda advises. */
export const VISIBILITY_SECONDS = 60;

/**
 * Receives after which SQS moves a message to the dead-letter queue. Only reached when runs are killed (out of memory):
 * our own retries (`retry.ts`) leave the queue earlier, with a reason.
 */
export const MAX_RECEIVE_COUNT = 20;

/** Messages in one receive, send or delete. */
export const BATCH_SIZE = 10;

/** The longest DelaySeconds of SQS; longer waits pass through the delay queue several times. */
export const MAX_DELAY_SECONDS = 900;

/** The longest that SQS keeps a message: 14 days. */
export const DEAD_LETTER_RETENTION_SECONDS = 1_209_600;
