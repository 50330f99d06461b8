/** Wait times after failures. */
export interface Backoff {
  /** Returns the wait after one more failure, in ms. */
  next(retryAfterSeconds?: number): number;
  /** Starts over after a success. */
  reset(): void;
}

/** A longer Retry-After is cut to this. */
const longestRetryAfterMs = 300_000;

/**
 * Returns an exponential back-off with full jitter: anything between zero and the doubling limit, so that many watchers
 * do not reconnect at the same moment; never less than the server's Retry-After.
 */
export function createBackoff(baseMs: number, capMs: number, random: () => number = Math.random): Backoff {
  let failures = 0;
  return {
    next(retryAfterSeconds = 0) {
      const limit = Math.min(capMs, baseMs * 2 ** failures);
      failures = Math.min(failures + 1, 30);
      return Math.min(retryAfterSeconds * 1000, longestRetryAfterMs) + random() * limit;
    },
    reset() {
      failures = 0;
    },
  };
}
