import { describe, expect, it } from 'vitest';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import { ClusterDownError } from '../../shared/kube/errors.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';
import { type Next, nextOf } from '../retry.ts';
import { causeOf, keyOf } from '../testing.ts';
import { createSchedule, type Schedule, type Start } from './schedule.ts';

const live = (resourceVersion = '1') => causeOf({ resourceVersion });
const awaited = causeOf({ awaited: true });
const listed = causeOf({ listed: true });
const resync: Cause = { type: 'resync', epoch: 1 };
const done: Next = { result: 'done' };
const look = (seconds: number): Next => ({ result: 'requeue', seconds });
const failed = (seconds: number, down?: string): Next => ({
  ...{ result: 'retry', seconds, error: new RetryableError('no answer'), down },
});
const givenUp: Next = { result: 'dead_letter', error: new TerminalError('never') };

/** The n-th Shoot of a project in a cluster. */
const shoot = (cluster: string, project: string, n: number): ReconcileKey => ({
  ...{ cluster, namespace: `shoot--${project}--s${n}`, name: 'shoot-flux' },
});

const texts = (start: Start | undefined) =>
  start?.causes.map((cause) => ('resourceVersion' in cause ? cause.resourceVersion : cause.type));

/** Starts everything that may start, in order. */
function takeAll(schedule: Schedule, now: number): Start[] {
  const starts: Start[] = [];
  for (let start = schedule.take(now); start !== undefined; start = schedule.take(now)) starts.push(start);
  return starts;
}

describe('the changes of a key', () => {
  it('keep the newest causes, and where a pass continues, and count all', () => {
    const schedule = createSchedule({ concurrency: 10 });
    const rest: Cause = { type: 'continue', after: 's7', hop: 1, state: 'x' };
    schedule.add(keyOf(1), rest, 0);
    for (let version = 1; version <= 10_000; version++) schedule.add(keyOf(1), live(String(version)), 0);
    const start = schedule.take(0);
    expect(start?.causes).toHaveLength(20);
    expect(texts(start)?.at(-1)).toBe('10000');
    expect(start?.causes).toContainEqual(rest);
    expect(start?.merged).toBe(10_000);
  });

  it('keep the newest of each object, however often another one changes', () => {
    const schedule = createSchedule({ concurrency: 10 });
    const edit = causeOf({ kind: 'ConfigMap', resourceVersion: 'edit' });
    schedule.add(keyOf(1), edit, 0);
    for (let version = 1; version <= 100; version++) schedule.add(keyOf(1), live(String(version)), 0);
    expect(schedule.take(0)?.causes).toContainEqual(edit);
  });

  it.each([0, 2000])('keep the resync that meets a change which waits for %i ms', (waitMs) => {
    const schedule = createSchedule({ concurrency: 10 });
    const applied = causeOf({ kind: 'ManagedResource' });
    schedule.add(keyOf(1), applied, 0, waitMs);
    schedule.add(keyOf(1), resync, 0);
    expect(takeAll(schedule, 2000).map(({ causes }) => causes)).toEqual([[applied, resync]]);
  });

  it('that arrive during its run make exactly one more run afterwards', () => {
    const schedule = createSchedule({ concurrency: 10 });
    schedule.add(keyOf(1), live('1'), 0);
    schedule.take(0);
    schedule.add(keyOf(1), live('2'), 1);
    schedule.add(keyOf(1), live('3'), 2);
    expect(schedule.take(3)).toBeUndefined();
    schedule.end(keyOf(1), done, 4);
    expect(texts(schedule.take(4))).toEqual(['2', '3']);
    schedule.end(keyOf(1), done, 5);
    expect(schedule.take(5)).toBeUndefined();
  });

  it('leave one pending look, exactly as late as the latest run asks for if that is less than a minute', () => {
    const schedule = createSchedule({ concurrency: 10 });
    const runAt = (now: number, next: Next) => {
      expect(schedule.take(now)).toBeDefined();
      schedule.end(keyOf(1), next, now);
    };
    schedule.add(keyOf(1), live('1'), 0);
    runAt(0, look(59));
    schedule.add(keyOf(1), live('2'), 10_000);
    runAt(10_000, look(59));
    expect(schedule.nextDue()).toBe(69_000);
    expect(schedule.take(68_999)).toBeUndefined();
    runAt(69_000, done);
    expect(schedule.nextDue()).toBeUndefined();
  });

  it('that ran at the same moment come due spread over the wait', () => {
    const schedule = createSchedule({ concurrency: 1000 });
    const starts = new Map<string, number[]>();
    for (let n = 0; n < 500; n++) schedule.add(keyOf(n), live(), 0);
    for (let second = 0; second < 7200; second++) {
      for (let start = schedule.take(second * 1000); start !== undefined; start = schedule.take(second * 1000)) {
        const { namespace } = start.key;
        starts.set(namespace, [...(starts.get(namespace) ?? []), second]);
        schedule.end(start.key, look(600), second * 1000);
      }
    }
    const looks = [...starts.values()].flatMap((seconds) => seconds.slice(1));
    const perSecond = Map.groupBy(looks, (second) => second);
    // Less than one on average; without an offset of each key it was 500 every ten minutes.
    expect(Math.max(...[...perSecond.values()].map(({ length }) => length))).toBeLessThanOrEqual(8);
    for (const [, first = Number.NaN, ...others] of starts.values()) {
      expect(first).toBeGreaterThanOrEqual(300);
      expect(first).toBeLessThanOrEqual(900);
      expect(others).toEqual(others.map((_, n) => first + 600 * (n + 1)));
      expect(others.length).toBeGreaterThanOrEqual(10);
    }
  });

  it.each([
    ['a followed and healthy Shoot, 6 times', look(600), 6],
    ['a released one, once', done, 1],
  ] as const)('look in an hour at %s', (_, next, expected) => {
    const schedule = createSchedule({ concurrency: 10 });
    schedule.add(keyOf(1), live(), 0);
    let looks = 0;
    // The second and third hour, with a resync in each that never meets the looks.
    for (let now = 0; now < 3 * 3_600_000; now += 1000) {
      if (now % 3_600_000 === 1_234_000) schedule.add(keyOf(1), resync, now);
      if (schedule.take(now) === undefined) continue;
      schedule.end(keyOf(1), next, now);
      if (now >= 3_600_000) looks++;
    }
    expect(looks / 2).toBe(expected);
  });

  it('that the resync sends join a look that is due soon, and no look that is far away', () => {
    const schedule = createSchedule({ concurrency: 10 });
    for (const [n, seconds] of [
      [1, 600],
      [2, 86_400],
    ] as const) {
      schedule.add(keyOf(n), live(), 0);
      schedule.take(0);
      schedule.end(keyOf(n), look(seconds), 0);
      schedule.add(keyOf(n), resync, 1000);
    }
    expect(takeAll(schedule, 1000).map(({ key }) => key)).toEqual([keyOf(2)]);
  });
});

describe('a key that fails', () => {
  const backingOff = () => {
    const schedule = createSchedule({ concurrency: 10 });
    schedule.add(keyOf(1), live('1'), 0);
    for (const [now, attempt] of [
      [0, 1],
      [1000, 2],
    ] as const) {
      expect(schedule.take(now)?.attempt).toBe(attempt);
      schedule.end(keyOf(1), failed(attempt === 1 ? 1 : 60), now);
    }
    return schedule;
  };

  it.each([
    ['live', live('2')],
    ['awaited', awaited],
  ])('runs at once after a %s change, and counts its attempts afresh', (_, cause) => {
    const schedule = backingOff();
    schedule.add(keyOf(1), cause, 5000);
    expect(schedule.take(5000)?.attempt).toBe(1);
    schedule.end(keyOf(1), done, 5001);
    expect(schedule.take(1_000_000)).toBeUndefined();
  });

  it.each([
    ['a resync', resync],
    ['a list', listed],
  ])('waits as long as before after %s, and keeps counting', (_, cause) => {
    const schedule = backingOff();
    const due = schedule.nextDue() ?? Number.NaN;
    expect(due).toBeGreaterThanOrEqual(31_000);
    schedule.add(keyOf(1), cause, 5000);
    expect(schedule.nextDue()).toBe(due);
    expect(schedule.take(due - 1)).toBeUndefined();
    expect(schedule.take(due)?.attempt).toBe(3);
  });

  it('runs at once after its run when a live change has arrived during it', () => {
    const schedule = backingOff();
    expect(schedule.take(91_000)?.attempt).toBe(3);
    schedule.add(keyOf(1), live('2'), 91_500);
    schedule.end(keyOf(1), failed(120), 92_000);
    expect(schedule.take(92_000)?.attempt).toBe(1);
  });

  it('answers the same causes with its retry', () => {
    const schedule = createSchedule({ concurrency: 10 });
    const rest: Cause = { type: 'continue', after: 's7', hop: 1, state: 'x' };
    schedule.add(keyOf(1), rest, 0);
    schedule.take(0);
    schedule.end(keyOf(1), failed(60), 0);
    schedule.add(keyOf(1), live('2'), 1000);
    expect(schedule.take(1000)).toMatchObject({ causes: [rest, live('2')], merged: 1, attempt: 1 });
  });

  it('is tried once by each resync after it was given up, and afresh after a live change', () => {
    const schedule = createSchedule({ concurrency: 10 });
    schedule.add(keyOf(1), live(), 0);
    schedule.take(0);
    schedule.end(keyOf(1), givenUp, 0);
    for (const now of [3_600_000, 7_200_000]) {
      schedule.add(keyOf(1), resync, now);
      expect(schedule.take(now)?.attempt).toBe(40);
      schedule.end(keyOf(1), givenUp, now);
      expect(schedule.nextDue()).toBeUndefined();
    }
    schedule.add(keyOf(1), live('2'), 8_000_000);
    expect(schedule.take(8_000_000)?.attempt).toBe(1);
  });
});

/** The letters of the projects whose runs come next, one after another. */
const projectsOf = (schedule: ReturnType<typeof createSchedule>, length: number) =>
  Array.from({ length }, () => {
    const start = schedule.take(0);
    if (start !== undefined) schedule.end(start.key, done, 0);
    return start?.key.namespace.at(7);
  });

describe('priorities', () => {
  it('put what gardenlet waits for before 10,000 listed changes of the same project', () => {
    const schedule = createSchedule({ concurrency: 10 });
    for (let n = 0; n < 10_000; n++) schedule.add(shoot('seed', 'big', n), listed, 0);
    const [first] = takeAll(schedule, 0);
    schedule.add(shoot('seed', 'big', 9_999), awaited, 1);
    if (first === undefined) throw new Error('nothing has started');
    schedule.end(first.key, done, 2);
    expect(schedule.take(2)?.key).toEqual(shoot('seed', 'big', 9_999));
  });

  it('leave the background and live changes a share of the starts', () => {
    const schedule = createSchedule({ concurrency: 1 });
    for (let n = 0; n < 100; n++) {
      schedule.add(shoot('seed', 'a', n), awaited, 0);
      schedule.add(shoot('seed', 'b', n), live(), 0);
      schedule.add(shoot('seed', 'c', n), listed, 0);
    }
    const projects = projectsOf(schedule, 80);
    const shares = Map.groupBy(projects, (project) => project);
    expect(['a', 'b', 'c'].map((project) => shares.get(project)?.length)).toEqual([60, 10, 10]);
  });

  it('stay for a retry, and sink for a look that is far away', () => {
    const schedule = createSchedule({ concurrency: 1 });
    schedule.add(keyOf(1), awaited, 0);
    schedule.take(0);
    schedule.end(keyOf(1), failed(15), 0);
    schedule.add(keyOf(2), live(), 15_000);
    expect(schedule.take(15_000)?.key).toEqual(keyOf(1));
    schedule.end(keyOf(1), look(600), 15_000);
    const due = schedule.nextDue() ?? Number.NaN;
    schedule.add(keyOf(3), live(), due);
    const order = [schedule.take(due)?.key];
    schedule.end(keyOf(2), done, due);
    order.push(schedule.take(due)?.key);
    schedule.end(keyOf(3), done, due);
    order.push(schedule.take(due)?.key);
    expect(order).toEqual([keyOf(2), keyOf(3), keyOf(1)]);
  });
});

describe('turns', () => {
  it('alternate between clusters, and between the projects of a cluster', () => {
    const schedule = createSchedule({ concurrency: 1 });
    for (let n = 0; n < 10; n++) {
      schedule.add(shoot('one', 'a', n), live(), 0);
      schedule.add(shoot('one', 'b', n), live(), 0);
      schedule.add(shoot('two', 'c', n), live(), 0);
    }
    const order = projectsOf(schedule, 8);
    expect(order.join('')).toBe('acbcacbc');
  });
});

describe('a cluster that is down', () => {
  const upOrDown = () => {
    const down = new Set<string>();
    return { down, schedule: createSchedule({ concurrency: 10, isUp: (cluster) => !down.has(cluster) }) };
  };

  it('parks its changes, until it answers again', () => {
    const { down, schedule } = upOrDown();
    down.add('dead');
    for (let n = 0; n < 300; n++) schedule.add(shoot('dead', 'a', n), live(), 0);
    schedule.add(shoot('alive', 'a', 1), live(), 0);
    expect(takeAll(schedule, 0).map(({ key }) => key)).toEqual([shoot('alive', 'a', 1)]);
    expect(schedule.depth()).toEqual({ waiting: 0, delayed: 0, running: 1, parked: 300 });
    down.delete('dead');
    schedule.resume('dead', 1000);
    expect(schedule.take(1000)?.key.cluster).toBe('dead');
  });

  it('makes retries due when it answers again, with attempts afresh', () => {
    const { down, schedule } = upOrDown();
    schedule.add(keyOf(1), live(), 0);
    schedule.take(0);
    down.add('garden');
    schedule.end(keyOf(1), failed(60, 'garden'), 0);
    expect(schedule.take(29_999)).toBeUndefined();
    schedule.resume('garden', 29_999);
    expect(schedule.take(29_999)?.attempt).toBe(1);
  });

  it('leaves attempts for what fails afterwards, however long it was down', () => {
    const { down, schedule } = upOrDown();
    schedule.add(keyOf(1), live(), 0);
    down.add('garden');
    let now = 0;
    for (let run = 0; run < 60; run++) {
      const start = schedule.take(now);
      const unanswered = nextOf(
        { type: 'failed', error: new ClusterDownError('garden', 'down') },
        start?.attempt ?? 0,
        1,
      );
      schedule.end(keyOf(1), unanswered, now);
      now = schedule.nextDue() ?? expect.fail('nothing is due');
    }
    // Its retry is due, but now the seed is down as well: nothing waits for the garden any more.
    down.add('local');
    expect(schedule.take(now)).toBeUndefined();
    for (const cluster of ['garden', 'local']) {
      down.delete(cluster);
      schedule.resume(cluster, now);
    }
    const { attempt } = schedule.take(now) ?? expect.fail('the key does not run');
    expect(nextOf({ type: 'failed', error: new RetryableError('no answer') }, attempt, 1).result).toBe('retry');
  });

  it('delays no retry of a run during which it has answered again', () => {
    const { down, schedule } = upOrDown();
    down.add('garden');
    schedule.add(keyOf(1), live(), 0);
    schedule.take(0);
    down.delete('garden');
    schedule.resume('garden', 4000);
    // The run still wrote to its seed after the garden had not answered it.
    schedule.end(keyOf(1), failed(600, 'garden'), 5000);
    expect(schedule.take(5000)?.attempt).toBe(1);
    schedule.end(keyOf(1), failed(600, 'garden'), 6000);
    expect(schedule.take(6000)).toBeUndefined();
  });

  it('delays keys of other clusters at most by their back-off', () => {
    const { schedule } = upOrDown();
    schedule.add(keyOf(1), live(), 0);
    schedule.take(0);
    schedule.end(keyOf(1), failed(50, 'garden'), 0);
    expect(schedule.take(50_000)?.attempt).toBe(2);
    schedule.end(keyOf(1), done, 50_000);
    schedule.resume('garden', 51_000);
    expect(schedule.take(51_000)).toBeUndefined();
  });
});
