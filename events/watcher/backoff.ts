/** Waiting times after failures. */
export interface Backoff {
  /** How long to wait after one more failure, in ms. */
  next(retryAfterSeconds?: number): number;
  /** Things go well again. */
  reset(): void;
}

/** A server that asks for more patience than this is asked again anyway. */
const longestRetryAfterMs = 300_000;

/**
 * Exponential with full jitter: anything between nothing and the doubling limit, so that many watchers do not come
 * back at the same moment; but never before the server's Retry-After.
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
