import { setTimeout } from 'node:timers/promises';

/** Resolves after so many milliseconds, or as soon as the signal aborts; never rejects. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
}

/** Returns the result of some work. @throws Error when it takes longer */
export async function withinMs<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  const timer = globalThis.setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
  try {
    return await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
