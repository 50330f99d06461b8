import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';
import { afterAll } from 'vitest';

/**
 * Lets time pass faster in this file: for suites that wait for the product's own delays, such as 15 s until a retry.
 * Dates, timers and `performance.now()` of everything in the process share the clock: the product, its queue, the API
 * servers and the landscape. Only time limits of tests are in real time.
 */
export function speedUpTime(factor = 5): void {
  const { Date: RealDate, setTimeout: realTimeout, setInterval: realInterval } = globalThis;
  const realNow = performance.now;
  const realSleep = promises.setTimeout;
  const realSignal = AbortSignal.timeout;
  const begin = realNow.call(performance);
  const elapsed = () => (realNow.call(performance) - begin) * factor;

  const start = RealDate.now();
  const now = () => Math.round(start + elapsed());
  globalThis.Date = class extends RealDate {
    constructor(...values: unknown[]) {
      super(...((values.length === 0 ? [now()] : values) as [number]));
    }
    static override now = now;
  } as DateConstructor;
  performance.now = () => begin + elapsed();
  globalThis.setTimeout = Object.assign(
    (callback: () => void, ms = 0, ...values: []) => realTimeout(callback, ms / factor, ...values),
    realTimeout,
  );
  globalThis.setInterval = ((callback: () => void, ms = 0, ...values: []) =>
    realInterval(callback, ms / factor, ...values)) as typeof setInterval;
  AbortSignal.timeout = (ms) => realSignal.call(AbortSignal, Math.ceil(ms / factor));
  promises.setTimeout = ((ms = 0, ...rest: []) => realSleep(ms / factor, ...rest)) as typeof promises.setTimeout;
  syncBuiltinESMExports();

  afterAll(() => {
    Object.assign(globalThis, { Date: RealDate, setTimeout: realTimeout, setInterval: realInterval });
    performance.now = realNow;
    AbortSignal.timeout = realSignal;
    promises.setTimeout = realSleep;
    syncBuiltinESMExports();
  });
}
