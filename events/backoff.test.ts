import { expect, test } from 'vitest';
import { createBackoff } from './backoff.ts';

test('grows to its cap with full jitter, and starts over after a reset', () => {
  const random = { value: 1 };
  const backoff = createBackoff(500, 30_000, () => random.value);
  expect(Array.from({ length: 8 }, () => backoff.next())).toEqual([
    500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ]);
  random.value = 0.5;
  expect(backoff.next()).toBe(15_000);
  random.value = 0;
  expect(backoff.next()).toBe(0);
  backoff.reset();
  random.value = 1;
  expect(backoff.next()).toBe(500);
});

test('never waits less than Retry-After, nor longer than an hour and the back-off', () => {
  const backoff = createBackoff(500, 30_000, () => 0);
  expect(backoff.next(7)).toBe(7000);
  expect(backoff.next(1800)).toBe(1_800_000);
  expect(backoff.next(86_400)).toBe(3_600_000);
});
