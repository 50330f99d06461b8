import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requeueTime } from '../../../events/waits.ts';
import { nextCheck } from './next-check.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const now = Date.parse('2026-05-01T12:00:00Z');

describe('after an operation', () => {
  it.each([
    [0, 15],
    [-2_000, 15],
    [14_000, 1],
    [15_000, 45],
    [72_000, 228],
    [299_500, 1],
    [300_000, undefined],
    [HOUR, undefined],
  ])('%d ms: rechecks the copies in %s s', (since, seconds) => {
    expect(nextCheck({ now, endedAt: now - since, renewals: [] })).toBe(seconds);
  });

  it('does not recheck without copies or while the operation is in flight', () => {
    expect(nextCheck({ now, renewals: [] })).toBeUndefined();
  });
});

it.each([
  [0, 10],
  [2 * MINUTE, 20],
  [24 * HOUR, 900],
  [Number.NaN, 10],
])('an object that leaves and is not suspended in the shoot is rechecked: %d ms old, in %s s', (age, seconds) => {
  expect(nextCheck({ now, renewals: [], unsuspendedSince: now - age })).toBe(seconds);
});

describe('a token', () => {
  it.each([
    [5 * HOUR, undefined],
    [HOUR, 2340],
    [10 * MINUTE, 390],
    [MINUTE, 60],
    [0, 60],
    [-5 * MINUTE, 60],
    [-HOUR, 480],
    [-3 * HOUR, 900],
    [-7 * HOUR, undefined],
    [-now, undefined],
  ])('that is renewed in %d ms is rechecked in %s s', (left, seconds) => {
    expect(nextCheck({ now, renewals: [now + left] })).toBe(seconds);
  });

  it('is rechecked at the earliest time, copies included', () => {
    expect(nextCheck({ now, renewals: [now + 3 * HOUR, now + 10 * MINUTE] })).toBe(390);
    expect(nextCheck({ now, endedAt: now, renewals: [now + 10 * MINUTE] })).toBe(15);
  });

  it('is in the shoot within three minutes after its renewal, with at most 14 runs, whenever the resync comes', () => {
    const phase = fc.integer({ min: 0, max: HOUR - 1 });
    // gardenlet renews at 80 % of 6 h, with up to 5 % more, and may take a moment.
    const renewal = fc.integer({ min: 4.8 * HOUR, max: 5.04 * HOUR });
    fc.assert(
      fc.property(phase, renewal, fc.integer({ min: 0, max: 20_000 }), (resync, renewsIn, takes) => {
        const { seenAt, runs } = follow(resync, now + renewsIn, now + renewsIn + takes);
        expect(seenAt - (now + renewsIn)).toBeLessThan(3 * MINUTE);
        expect(runs).toBeLessThanOrEqual(14);
      }),
    );
  });
});

const key = { cluster: 'local', namespace: 'shoot--dev--apple', name: 'shoot-flux' };

/** Simulates the runs of the hourly resync and of requeues; runs at the same time count once. */
function follow(resync: number, renewal: number, renewed: number): { seenAt: number; runs: number } {
  const due = new Set(Array.from({ length: 8 }, (_, hour) => now + resync + hour * HOUR));
  for (let runs = 1; ; runs++) {
    const time = Math.min(...due);
    due.delete(time);
    if (time >= renewed) return { seenAt: time, runs };
    const seconds = nextCheck({ now: time, renewals: [renewal] });
    if (seconds !== undefined) due.add(requeueTime(new Date(time), seconds, key).getTime());
  }
}
