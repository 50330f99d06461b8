import { setTimeout as sleep } from 'node:timers/promises';
import { keepHeapSmall, returnMemory } from '../../events/watcher/small-heap.ts';

/**
 * A process that fills its heap, drops all of it, and then allocates a little three times a second, like runs at rest.
 * Prints its memory once it has returned a third of it, or after four minutes.
 */
const objects = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `object-${index}`, at: [index] }));
const residentMb = () => process.memoryUsage.rss() / 1e6;

async function several(times: number, count: number): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let time = 0; time < times; time++) {
    all.push(objects(count));
    await sleep(1);
  }
  return all;
}

keepHeapSmall();
const ended = new AbortController();
const returning = returnMemory(ended.signal, 1000);
await several(100, 5000);
const full = residentMb();
const deadline = performance.now() + 240_000;
let some: unknown[] = [];
while (residentMb() > full * 0.67 && performance.now() < deadline) {
  await sleep(300);
  some = await several(20, 500);
}
const rest = residentMb();
ended.abort();
await returning;
process.stdout.write(JSON.stringify({ full, rest, some: some.length }));
