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

/** Collect when memory exceeds its last minimum by this factor. Between two collections it grows by a seventh. */
const GROWN = 1.25;
/** V8 has nothing more to return when it has returned less. */
const LITTLE_BYTES = 4_000_000;

/** V8 is asked for so long, because it looks every eight seconds whether it should return memory. */
const FOR_MS = 10_000;

/** A process that is busy for longer is asked, too. */
const BUSY_FOR_MS = 120_000;

/**
 * Lets V8 return memory that it does not use, until the signal aborts: whenever memory has grown and the process is not
 * busy, because V8 collects more often meanwhile. On its own it returns memory only in a process that allocates little,
 * which one with 10,000 Shoots at rest never does: after the first sync, 35 MB of empty pages and 20 MB of garbage
 * stayed for ever. V8 collects in small steps; `gc()` would do it in one that takes long.
 */
export async function returnMemory(signal: AbortSignal, everyMs = 10_000): Promise<void> {
  let least = process.memoryUsage.rss();
  let askedAt = performance.now();
  while (!signal.aborted) {
    const usage = process.cpuUsage();
    await sleep(everyMs, signal);
    const resident = process.memoryUsage.rss();
    least = Math.min(least, resident);
    const { user, system } = process.cpuUsage(usage);
    const isBusy = (user + system) / 1000 > everyMs / 2;
    if (resident < least * GROWN || (isBusy && performance.now() - askedAt < BUSY_FOR_MS)) continue;
    setFlagsFromString('--optimize-for-size');
    await sleep(FOR_MS, signal);
    setFlagsFromString('--no-optimize-for-size');
    askedAt = performance.now();
    const left = process.memoryUsage.rss();
    // One collection makes room for the next one, so V8 is asked until it returns little more.
    if (left > resident - LITTLE_BYTES) least = left;
  }
}
