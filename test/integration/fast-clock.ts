import { syncBuiltinESMExports } from 'node:module';
import { performance } from 'node:perf_hooks';
import promises from 'node:timers/promises';
import { afterAll } from 'vitest';

/**
 * Lets time pass faster in this file while the process is idle: for suites that wait for the product's own delays, such
 * as 15 s until a retry. Time in which the process works passes as always, so that no time limit gets tighter on a busy
 * machine. Dates, timers and `performance.now()` of everything in the process share the clock: the product, its queue,
 * the API servers and the landscape. Only time limits of tests are in real time.
 */
export function speedUpTime(factor = 5): void {
  afterAll(startFastClock(factor));
}

/** @returns restores the real time */
function startFastClock(factor: number): () => void {
  const { Date: RealDate, setTimeout: realTimeout, setInterval: realInterval, clearTimeout: realClear } = globalThis;
  const realNow = performance.now;
  const realSleep = promises.setTimeout;
  const realSignal = AbortSignal.timeout;
  const start = RealDate.now();
  const begin = realNow.call(performance);
  const idleAtBegin = performance.eventLoopUtilization().idle;
  /** Milliseconds on the fast clock since the start. */
  const elapsed = () => {
    const idle = performance.eventLoopUtilization().idle - idleAtBegin;
    return realNow.call(performance) - begin + idle * (factor - 1);
  };

  const now = () => Math.round(start + elapsed());
  globalThis.Date = class extends RealDate {
    constructor(...values: unknown[]) {
      super(...((values.length === 0 ? [now()] : values) as [number]));
    }
    static override now = now;
  } as DateConstructor;
  performance.now = () => begin + elapsed();

  /** The current timers of those that were not yet due on the fast clock when they fired. */
  const renewed = new WeakMap<object, NodeJS.Timeout>();
  const fastTimeout = (callback: (...values: unknown[]) => void, ms = 0, ...values: unknown[]) => {
    const due = elapsed() + ms;
    const fire = () => {
      const left = due - elapsed();
      if (left < 1) return callback(...values);
      const next = realTimeout(fire, left / factor);
      if (!(renewed.get(handle) ?? handle).hasRef()) next.unref();
      renewed.set(handle, next);
    };
    const handle = realTimeout(fire, ms / factor);
    return handle;
  };
  globalThis.setTimeout = Object.assign(fastTimeout, realTimeout) as unknown as typeof setTimeout;
  globalThis.clearTimeout = (handle) => {
    realClear(handle);
    if (typeof handle === 'object') realClear(renewed.get(handle));
  };
  // Early rather than late: leases are renewed in intervals.
  globalThis.setInterval = ((callback: () => void, ms = 0, ...values: []) =>
    realInterval(callback, ms / factor, ...values)) as typeof setInterval;
  promises.setTimeout = (async (ms = 0, value: unknown, options: object) => {
    const due = elapsed() + ms;
    do await realSleep(Math.max(0, due - elapsed()) / factor, undefined, options);
    while (due - elapsed() >= 1);
    return value;
  }) as typeof promises.setTimeout;
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    const abort = () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    fastTimeout(abort, ms).unref();
    return controller.signal;
  };
  syncBuiltinESMExports();

  return () => {
    const real = { Date: RealDate, setTimeout: realTimeout, setInterval: realInterval, clearTimeout: realClear };
    Object.assign(globalThis, real);
    performance.now = realNow;
    AbortSignal.timeout = realSignal;
    promises.setTimeout = realSleep;
    syncBuiltinESMExports();
  };
}
