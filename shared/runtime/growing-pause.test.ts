import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { growingPause, LONGEST_PAUSE_SECONDS, secondsSince } from './growing-pause.ts';

describe('growingPause', () => {
  it('begins with the shortest pause and grows to a quarter of an hour', () => {
    expect([0, 100, 480, 3600, 86_400, Number.POSITIVE_INFINITY].map((age) => growingPause(age, 60))).toEqual([
      60, 60, 120, 480, 900, 900,
    ]);
    expect(growingPause(Number.NaN, 5)).toBe(5);
  });

  it('is always between its two bounds', () => {
    fc.assert(
      fc.property(fc.double(), fc.integer({ min: 1, max: 60 }), (age, shortest) => {
        const pause = growingPause(age, shortest);
        expect(pause).toBeGreaterThanOrEqual(shortest);
        expect(pause).toBeLessThanOrEqual(LONGEST_PAUSE_SECONDS);
      }),
      { seed: 32 },
    );
  });
});

it('secondsSince counts from times of any form, and never below 0', () => {
  const now = new Date('2026-03-04T05:06:07Z');
  expect(secondsSince('2026-03-04T05:05:07Z', now)).toBe(60);
  expect(secondsSince(now.getTime() - 1500, now)).toBe(1.5);
  for (const time of [undefined, '', 'yesterday', '2026-03-04T05:06:08Z']) expect(secondsSince(time, now)).toBe(0);
});
