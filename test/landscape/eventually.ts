import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls `find` until it returns something.
 * @param find undefined or false: not yet
 * @throws Error that names `what` after the time limit
 */
export async function eventually<T>(
  what: string,
  find: () => Promise<T | undefined | false>,
  limitMs = 240_000,
): Promise<T> {
  // hrtime, unlike Date, stays real time when a test speeds up its clock.
  const deadline = process.hrtime.bigint() + BigInt(limitMs) * 1_000_000n;
  for (let looks = 1; ; looks++) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    if (process.hrtime.bigint() > deadline) throw new Error(`${what}: not within ${limitMs / 1000} s.`);
    await sleep(pauseAfter(looks));
  }
}

/**
 * Returns the ms until the next look: 20 at first, and a fifth of a second after ten looks. Forty looks a second took as
 * much of the API servers as what they waited for.
 */
export const pauseAfter = (looks: number): number => Math.min(200, 20 * 1.3 ** (looks - 1));
