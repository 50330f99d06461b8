/** SQS answers within milliseconds. The SDK has no limit of its own, and a start would wait for ever. */
export const OPEN_MS = 15_000;

/** Returns the result of some work. @throws Error when it takes longer */
export async function withinMs<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
  try {
    return await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
