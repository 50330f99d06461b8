/** Lets requests pass, not too many at once and not too many a second. */
export interface Gate {
  /**
   * Waits for its turn.
   * @returns a function to be called when the request has passed; undefined when its turn did not come in time
   */
  enter(waitMs: number): Promise<(() => void) | undefined>;
}

export interface GateLimits {
  /** How many pass at the same time. */
  atOnce: number;
  perSecond: number;
  /** How many may come at once after a quiet time. */
  burst: number;
  /** How many may wait; the next one is turned away. */
  waiting: number;
}

export function createGate({ atOnce, perSecond, burst, waiting }: GateLimits): Gate {
  const queue = new Set<() => void>();
  let inside = 0;
  let allowance = burst;
  let countedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;

  const next = () => {
    const now = performance.now();
    allowance = Math.min(burst, allowance + ((now - countedAt) / 1000) * perSecond);
    countedAt = now;
    for (const pass of queue) {
      if (inside >= atOnce || allowance < 1) break;
      queue.delete(pass);
      inside += 1;
      allowance -= 1;
      pass();
    }
    const isPaced = queue.size > 0 && inside < atOnce;
    if (!isPaced || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      next();
    }, 1000 / perSecond).unref();
  };
  const leave = () => {
    inside -= 1;
    next();
  };
  return {
    enter(waitMs) {
      if (queue.size >= waiting) return Promise.resolve(undefined);
      const { promise, resolve } = Promise.withResolvers<(() => void) | undefined>();
      const pass = () => {
        clearTimeout(limit);
        resolve(leave);
      };
      const limit = setTimeout(() => {
        queue.delete(pass);
        resolve(undefined);
      }, waitMs);
      queue.add(pass);
      next();
      return promise;
    },
  };
}
