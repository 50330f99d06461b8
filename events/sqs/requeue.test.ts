import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requeueTime } from './requeue.ts';

const moment = fc.date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true });
const seconds = fc.integer({ min: 1, max: 100_000 });

describe('requeueTime', () => {
  it('is never early, and at most a quarter or one second late', () => {
    fc.assert(
      fc.property(moment, seconds, (now, afterSeconds) => {
        const waited = (requeueTime(now, afterSeconds).getTime() - now.getTime()) / 1000;
        expect(waited).toBeGreaterThanOrEqual(afterSeconds);
        expect(waited).toBeLessThan(afterSeconds + Math.max(1, Math.ceil(afterSeconds / 4)));
      }),
    );
  });

  it('maps requeues that begin together to few moments, so that deduplication ends all other chains', () => {
    fc.assert(
      fc.property(
        moment,
        seconds,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 200 }),
        (now, afterSeconds, runs) => {
          const moments = runs.map((share) =>
            requeueTime(new Date(now.getTime() + share * afterSeconds * 1000), afterSeconds),
          );
          expect(new Set(moments.map(Number)).size).toBeLessThanOrEqual(6);
        },
      ),
    );
  });
});
