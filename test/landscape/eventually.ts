import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks until there is an answer.
 * @param find undefined or false: not yet
 * @throws Error that names `what` when there is none in time
 */
export async function eventually<T>(
  what: string,
  find: () => Promise<T | undefined | false>,
  limitMs = 8000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${limitMs / 1000} s.`);
    await sleep(20);
  }
}
