/** Wait times after failures. */
export type Backoff = ReturnType<typeof createBackoff>;

/**
 * A longer Retry-After comes from a wrong clock or a misconfigured proxy, and is cut to this, the period of the resync:
 * obeying it would leave changes unseen for longer than losing them would.
 */
const longestRetryAfterMs = 3_600_000;

/**
 * Returns an exponential back-off with full jitter: anything between zero and the doubling limit, so that many watchers
 * do not reconnect at the same moment; never less than the server's Retry-After, if that is at most an hour.
 */
export function createBackoff(baseMs: number, capMs: number, random: () => number = Math.random) {
  let failures = 0;
  return {
    /** Returns the wait after one more failure, in ms. */
    next(retryAfterSeconds = 0): number {
      const limit = Math.min(capMs, baseMs * 2 ** failures);
      failures = Math.min(failures + 1, 30);
      return Math.min(retryAfterSeconds * 1000, longestRetryAfterMs) + random() * limit;
    },
    /** Starts over after a success. */
    reset(): void {
      failures = 0;
    },
  };
}
