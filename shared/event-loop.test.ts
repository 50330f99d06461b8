import { expect, test } from 'vitest';
import { yieldToOthers } from './event-loop.ts';

/** Occupies the thread for some milliseconds. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('timers and requests get their turn while several loops are busy', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const busy = async () => {
    for (let step = 0; step < 50; step++) {
      work(1);
      await yieldToOthers();
    }
  };
  await Promise.all([busy(), busy(), busy(), busy()]);
  clearInterval(timer);
  // 200 ms of work in pieces of 5 to 10 ms; without turns there would be none.
  expect(turns).toBeGreaterThan(5);
});
