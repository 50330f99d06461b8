/** How many background changes may be sent now. */
export interface Allowance {
  /** Returns how many, at this time in ms. */
  left(now: number): number;
  take(count: number): void;
  /** Returns when some are left again, in ms. */
  next(): number;
}

/** How many changes are sent together: SQS takes ten messages in a request. */
const together = 10;

/**
 * Allows so many per second, and at most those of one second at once.
 * @param perSecond infinity for no limit
 */
export function createAllowance(perSecond: number, start: number): Allowance {
  const fewest = Math.min(together, perSecond);
  let tokens = perSecond;
  let refilled = start;
  return {
    left(now) {
      if (perSecond === Number.POSITIVE_INFINITY) return perSecond;
      tokens = Math.min(perSecond, tokens + ((now - refilled) / 1000) * perSecond);
      refilled = now;
      // A thousandth less, or a timer that is early by a fraction of a millisecond would wait twice.
      return tokens < fewest - 0.001 ? 0 : Math.max(1, Math.floor(tokens));
    },
    take(count) {
      if (perSecond !== Number.POSITIVE_INFINITY) tokens -= count;
    },
    next: () => (tokens >= fewest ? refilled : refilled + ((fewest - tokens) / perSecond) * 1000),
  };
}
