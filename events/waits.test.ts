import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyOf } from './testing.ts';
import { requeueTime } from './waits.ts';

const moment = fc.date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true });
const short = fc.integer({ min: 1, max: 59 });
const long = fc.integer({ min: 60, max: 100_000 });
const key = fc.nat({ max: 10_000 }).map(keyOf);
const waited = (now: Date, seconds: number, of = keyOf(1)) =>
  (requeueTime(now, seconds, of).getTime() - now.getTime()) / 1000;

describe('requeueTime', () => {
  it('never shortens a short wait, and prolongs it by at most a quarter or one second', () => {
    fc.assert(
      fc.property(moment, short, key, (now, seconds, of) => {
        expect(waited(now, seconds, of)).toBeGreaterThanOrEqual(seconds);
        expect(waited(now, seconds, of)).toBeLessThan(seconds + Math.max(1, Math.ceil(seconds / 4)));
      }),
    );
  });

  it('ends a long wait after half to one and a half times as long', () => {
    fc.assert(
      fc.property(moment, long, key, (now, seconds, of) => {
        expect(waited(now, seconds, of)).toBeGreaterThanOrEqual(seconds / 2);
        expect(waited(now, seconds, of)).toBeLessThanOrEqual(seconds * 1.5);
      }),
    );
  });

  it('names one of two moments for any run between two looks of a chain: the next look, or the one after it', () => {
    fc.assert(
      fc.property(moment, long, key, fc.double({ min: 0, max: 0.999, noNaN: true }), (start, seconds, of, share) => {
        const look = requeueTime(start, seconds, of);
        const nextLook = requeueTime(look, seconds, of);
        const between = new Date(look.getTime() + Math.floor(share * seconds * 1000));
        const asked = requeueTime(between, seconds, of);
        expect([nextLook.getTime(), requeueTime(nextLook, seconds, of).getTime()]).toContain(asked.getTime());
      }),
    );
  });

  it('keeps the step of a chain, so that a wait of ten minutes gives six looks an hour', () => {
    let now = new Date('2026-01-01T00:07:31Z');
    const waits: number[] = [];
    for (let look = 0; look < 20; look++) {
      const next = requeueTime(now, 600, keyOf(7));
      waits.push((next.getTime() - now.getTime()) / 1000);
      // The delay queue is a few seconds late, and a run takes a second.
      now = new Date(next.getTime() + 4_000);
    }
    expect(waits.slice(1).every((seconds) => seconds > 590 && seconds <= 600)).toBe(true);
  });

  it('spreads keys that began together over the whole step', () => {
    const now = new Date('2026-01-01T00:00:00Z');
    const due = Array.from({ length: 600 }, (_, n) => requeueTime(now, 600, keyOf(n)).getTime() - now.getTime());
    const inMinute = (minute: number) => due.filter((ms) => Math.floor(ms / 60_000) === minute).length;
    const counts = Array.from({ length: 10 }, (_, index) => inMinute(5 + index));
    expect(Math.min(...counts)).toBeGreaterThan(30);
    expect(Math.max(...counts)).toBeLessThan(90);
  });

  it('never undercuts the wait that an API server asks for', () => {
    fc.assert(
      fc.property(moment, fc.integer({ min: 1, max: 3600 }), key, (now, seconds, of) => {
        const due = requeueTime(now, seconds, of, seconds);
        expect(due.getTime() - now.getTime()).toBeGreaterThanOrEqual(seconds * 1000);
      }),
    );
  });
});
