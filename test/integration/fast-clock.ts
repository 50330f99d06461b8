import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';

/**
 * How much faster time passes in suites that wait for the product's own delays, such as 15 s until a retry. Everything
 * in the process shares the clock: the product, its queue, the API servers and the landscape.
 */
const FACTOR = 5;

/** Lets time pass faster in this process from now on: dates, timers and `performance.now()`. */
export function speedUpTime(factor = FACTOR): void {
  const RealDate = Date;
  const start = RealDate.now();
  const now = () => Math.round(start + (RealDate.now() - start) * factor);
  globalThis.Date = class extends RealDate {
    constructor(...values: unknown[]) {
      super(...((values.length === 0 ? [now()] : values) as [number]));
    }
    static override now = now;
  } as DateConstructor;

  const realNow = performance.now.bind(performance);
  const begin = realNow();
  performance.now = () => begin + (realNow() - begin) * factor;

  const { setTimeout: realTimeout, setInterval: realInterval } = globalThis;
  globalThis.setTimeout = Object.assign(
    (callback: () => void, ms = 0, ...values: []) => realTimeout(callback, ms / factor, ...values),
    realTimeout,
  );
  globalThis.setInterval = ((callback: () => void, ms = 0, ...values: []) =>
    realInterval(callback, ms / factor, ...values)) as typeof setInterval;
  const realSleep = promises.setTimeout;
  promises.setTimeout = ((ms = 0, ...rest: []) => realSleep(ms / factor, ...rest)) as typeof promises.setTimeout;
  syncBuiltinESMExports();

  const realSignal = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (ms) => realSignal(Math.ceil(ms / factor));
}
