import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Next } from '../retry.ts';
import { keyOf } from '../testing.ts';
import { type Schedule, startWorker } from './schedule.ts';

const done: Next = { result: 'done' };
const nothing = { waiting: 0, delayed: 0, running: 0, parked: 0 };
const idle: Schedule = {
  ...{ add: () => {}, take: () => undefined, lasts: () => {}, end: () => {}, resume: () => {} },
  ...{ nextDue: () => undefined, depth: () => nothing },
};

function start(schedule: Partial<Schedule>, work = async (): Promise<Next> => done) {
  return startWorker({ schedule: { ...idle, ...schedule }, timeoutSeconds: 10, work });
}

describe('a worker', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each<[string, Partial<Schedule>, boolean]>([
    ['nothing is due', {}, true],
    ['keys are due and none starts', { depth: () => ({ ...nothing, waiting: 1 }) }, false],
    ['a delayed key is long overdue', { nextDue: () => performance.now() - 61_000 }, false],
    ['only parked keys are due', { depth: () => ({ ...nothing, parked: 300 }) }, true],
  ])('notices that it is stuck: %s for a minute', async (_, schedule, alive) => {
    const worker = start(schedule);
    await vi.advanceTimersByTimeAsync(1000);
    expect(worker.alive()).toBe(true);
    await vi.advanceTimersByTimeAsync(61_000);
    expect(worker.alive()).toBe(alive);
    await worker.stop(0);
    expect(worker.alive()).toBe(true);
  });

  it('waits for what is due far away in steps that a timer can take', async () => {
    let takes = 0;
    const due = 30 * 86_400_000;
    const worker = start({
      take() {
        takes++;
        return undefined;
      },
      nextDue: () => (performance.now() < due ? due : undefined),
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect(takes).toBe(1);
    await vi.advanceTimersByTimeAsync(due);
    expect(takes).toBe(3);
    await worker.stop(0);
  });

  it('gives the slot of a run back after a second', async () => {
    const lasting: unknown[] = [];
    let isTaken = false;
    const take = () => {
      if (isTaken) return undefined;
      isTaken = true;
      const causes = [{ type: 'resync', epoch: 1 }] as const;
      return { key: keyOf(1), causes, merged: 0, attempt: 1, since: 0 };
    };
    const work = () => new Promise<Next>((resolve) => setTimeout(resolve, 5000, done));
    const worker = start({ take, lasts: (key) => void lasting.push(key) }, work);
    await vi.advanceTimersByTimeAsync(990);
    expect(lasting).toEqual([]);
    await vi.advanceTimersByTimeAsync(20);
    expect(lasting).toEqual([keyOf(1)]);
    const stopped = worker.stop(10_000);
    await vi.advanceTimersByTimeAsync(5000);
    await stopped;
  });
});
