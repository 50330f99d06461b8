import { setTimeout } from 'node:timers/promises';

/** Resolves after so many milliseconds, or as soon as the signal aborts; never rejects. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
}
