import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { expiry } from './call-limit.ts';

/** Blocks the event loop. */
function block(ms: number) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('a block of the event loop that is longer than a time limit does not use it up', async () => {
  let expired = 0;
  const end = expiry(200, () => expired++);
  block(300);
  // Two of the other three quarters at most, however busy the machine is.
  await sleep(80);
  expect(expired).toBe(0);
  await expect.poll(() => expired).toBe(1);
  end();
});
