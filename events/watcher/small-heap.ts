import { setFlagsFromString } from 'node:v8';
import { sleep } from '../../shared/runtime/sleep.ts';

/**
 * Keeps the young generation of this process at its initial size. A first sync creates hundreds of megabytes of short-
 * lived objects, for which V8 would grow it to 96 MB and never shrink it: 325 MB RSS instead of 165 MB with 50,000
 * objects, for a fifth more CPU. `--max-semi-space-size` would do the same, but only from the command line.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** When V8 is asked to return memory, and for how long: it looks every eight seconds whether it should. */
const defaultPauses = { beforeMs: 120_000, forMs: 10_000 };

/**
 * Lets V8 return memory that it does not use, until the signal aborts. On its own it does so only in a process that
 * allocates little, which one with 10,000 Shoots at rest never does: after the first sync, 35 MB of empty pages and 20
 * MB of garbage stayed for ever. V8 collects in small steps meanwhile; `gc()` would do it in one that takes long.
 */
export async function returnMemory(signal: AbortSignal, { beforeMs, forMs } = defaultPauses): Promise<void> {
  while (!signal.aborted) {
    await sleep(beforeMs, signal);
    setFlagsFromString('--optimize-for-size');
    await sleep(forMs, signal);
    setFlagsFromString('--no-optimize-for-size');
  }
}
