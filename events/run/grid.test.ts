import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyOf } from '../testing.ts';
import { endOfLongWait } from './grid.ts';

/** A monotonic clock begins at zero and counts fractions of milliseconds. */
const clock = fc.double({ min: 0, max: 1e10, noNaN: true });
const seconds = fc.integer({ min: 60, max: 100_000 });
const key = fc.nat({ max: 10_000 }).map(keyOf);

describe('a long wait', () => {
  it('lasts half to one and a half times as long, on any clock', () => {
    fc.assert(
      fc.property(clock, seconds, key, (now, wait, of) => {
        const waited = endOfLongWait(now, wait, of) - now;
        expect(waited).toBeGreaterThanOrEqual(wait * 500 - 1);
        expect(waited).toBeLessThanOrEqual(wait * 1500 + 1);
      }),
      { seed: 9 },
    );
  });

  it('begins a chain whose steps are as long as the wait, however late its runs are', () => {
    fc.assert(
      fc.property(clock, seconds, key, fc.double({ min: 0, max: 0.49, noNaN: true }), (now, wait, of, late) => {
        const first = endOfLongWait(now, wait, of);
        expect(endOfLongWait(first + late * wait * 1000, wait, of)).toBe(first + wait * 1000);
      }),
      { seed: 9 },
    );
  });

  it('never ends before the wait that an API server asks for, and at most one step after it', () => {
    fc.assert(
      fc.property(clock, seconds, key, fc.integer({ min: 1, max: 3600 }), (now, wait, of, asked) => {
        const waited = endOfLongWait(now, wait, of, asked) - now;
        expect(waited).toBeGreaterThanOrEqual(asked * 1000);
        expect(waited).toBeLessThanOrEqual(Math.max(asked * 1000 + wait * 1000, wait * 1500) + 1);
      }),
      { seed: 9 },
    );
  });
});
