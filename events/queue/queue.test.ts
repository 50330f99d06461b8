import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import { ClusterDownError } from '../../shared/kube/errors.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';
import {
  causeOf,
  changeOf,
  definitionOf,
  functionOf,
  keptLog,
  keptMetrics,
  keyOf,
  processDependencies,
} from '../testing.ts';
import { openQueue, type QueueOptions } from './queue.ts';

const FUNCTION = 'managed-resources';

/** A queue whose only function is the given handler. */
function start(handler: Handler, options: Partial<QueueOptions> = {}) {
  const { metrics, sums } = keptMetrics();
  const { log, lines } = keptLog();
  const queue = openQueue({ definitions: [definitionOf(FUNCTION), definitionOf('other')], metrics, ...options });
  const running = queue.start([functionOf(handler, FUNCTION)], () => processDependencies({ log, metrics }));
  const send = (...keys: ReconcileKey[]) => queue.send(keys.map((key) => changeOf({ key })));
  const stop = async () => {
    const stopped = running.stop(100);
    if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(100);
    await stopped;
    await queue.stop();
  };
  return { queue, running, send, stop, lines, sums };
}

/** Waits on the clock of the test, simulated or not. */
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const shoot = (cluster: string, project: string, n: number): ReconcileKey => ({
  ...{ cluster, namespace: `shoot--${project}--s${n}`, name: 'shoot-flux' },
});

/** As a client whose API server swallows packets. */
const hangs: Handler = (_, { signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new RetryableError('no answer')));
  });

describe('the queue of one process', () => {
  it('delivers changes that one function sends to another', async () => {
    const received = Promise.withResolvers<ReconcileKey>();
    const queue = openQueue({
      definitions: [definitionOf('sender'), definitionOf('receiver')],
      metrics: noMetrics,
    });
    const sender = functionOf(async (key, { send }) => {
      await send([changeOf({ function: 'receiver', key })]);
      return done;
    }, 'sender');
    const receiver = functionOf(async (key) => {
      received.resolve(key);
      return done;
    }, 'receiver');
    const running = queue.start([sender, receiver], () => processDependencies());
    await queue.send([changeOf({ function: 'sender', key: keyOf(7) })]);
    expect(await received.promise).toEqual(keyOf(7));
    await running.stop();
    await queue.stop();
  });

  it('never runs a key twice at a time, and once more for what arrives meanwhile', async () => {
    let [active, most, runs] = [0, 0, 0];
    const { send, stop } = start(async () => {
      most = Math.max(most, ++active);
      await sleep(100);
      active--;
      runs++;
      return done;
    });
    await send(keyOf(1));
    await expect.poll(() => active, { interval: 1 }).toBe(1);
    for (let n = 0; n < 5; n++) await send(keyOf(1));
    await expect.poll(() => runs).toBe(2);
    await sleep(150);
    expect([most, runs]).toEqual([1, 2]);
    await stop();
  });

  it('gives a run all causes of its key, and reports it as the other queue does', async () => {
    const contexts: Context[] = [];
    const { queue, stop, lines, sums } = start(async (_, context) => {
      contexts.push(context);
      return done;
    });
    const causes = ['1', '2', '3'].map((resourceVersion) => causeOf({ resourceVersion }));
    await queue.send(causes.map((cause) => changeOf({ key: keyOf(1), cause })));
    await expect.poll(() => lines.some(({ message }) => message === 'reconcile finished')).toBe(true);
    await stop();
    expect(contexts.map((context) => context.causes)).toEqual([causes]);
    expect(sums.get(`coalesced_total{function=${FUNCTION}}`)).toBe(2);
    expect(lines.find(({ message }) => message === 'reconcile finished')).toMatchObject({
      ...{ function: FUNCTION, key: keyText(keyOf(1)), outcome: 'done', attempt: 1 },
      causes: ['1', '2', '3'].map((version) => `Extension shoot--dev--apple/shoot-flux ${version}`).join(', '),
    });
  });

  it('refuses a change for a function that it does not have', async () => {
    const { queue, stop } = start(async () => done);
    await expect(queue.send([changeOf({ function: 'unknown' })])).rejects.toThrow(
      'Function unknown does not exist; known are managed-resources, other.',
    );
    await stop();
  });

  it('on stop starts nothing more, and waits for runs under way', async () => {
    const ended: string[] = [];
    const { send, running, queue } = start(async ({ namespace }) => {
      await sleep(50);
      ended.push(namespace);
      return requeueAfter(0);
    });
    await send(keyOf(1));
    await expect.poll(() => queue.depths()[0]?.depth.running, { interval: 1 }).toBe(1);
    await running.stop();
    expect(ended).toEqual([keyOf(1).namespace]);
    await sleep(50);
    expect(ended).toHaveLength(1);
  });
});

describe('the queue of one process, on a simulated clock', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('has one timer, whether one key is delayed or 50,000 are', async () => {
    let runs = 0;
    const { send, stop } = start(async () => {
      runs++;
      return requeueAfter(1200 + (runs % 3000));
    });
    await send(...Array.from({ length: 50_000 }, (_, n) => keyOf(n)));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(runs).toBe(50_000);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(580_000);
    expect(runs).toBe(50_000);
    await stop();
  });

  it('runs again exactly as late as the function asks for, if that is less than a minute', async () => {
    const times: number[] = [];
    const begun = Date.now();
    const { send, stop } = start(async () => {
      times.push(Date.now() - begun);
      return requeueAfter(59);
    });
    await send(keyOf(1));
    await vi.advanceTimersByTimeAsync(180_000);
    expect(times.map((time) => Math.round(time / 1000))).toEqual([0, 59, 118, 177]);
    await stop();
  });

  it('looks at keys that ran together at different times, each six times an hour', async () => {
    const times = new Map<string, number[]>();
    const begun = Date.now();
    const { send, stop } = start(async (key) => {
      times.set(keyText(key), [...(times.get(keyText(key)) ?? []), Math.floor((Date.now() - begun) / 1000)]);
      return requeueAfter(600);
    });
    await send(...Array.from({ length: 500 }, (_, n) => keyOf(n)));
    await vi.advanceTimersByTimeAsync(2 * 3_600_000 - 1);
    const looks = [...times.values()].flatMap((seconds) => seconds.slice(1));
    const perSecond = Map.groupBy(looks, (second) => second);
    // Less than one on average; without an offset of each key it was 500 every ten minutes.
    expect(Math.max(...[...perSecond.values()].map(({ length }) => length))).toBeLessThanOrEqual(8);
    const inSecondHour = [...times.values()].map((seconds) => seconds.filter((second) => second >= 3600).length);
    expect(new Set(inSecondHour)).toEqual(new Set([6]));
    await stop();
  });

  /** Sends a change of a healthy tenant every 200 ms beside one load, and returns how long each waited for its run. */
  async function waitsBeside(
    load: ReconcileKey[],
    healthy: (n: number) => ReconcileKey,
    isBad: (key: ReconcileKey) => boolean,
    after = 5,
  ) {
    const sent = new Map<string, number>();
    const waits: number[] = [];
    const { send, stop } = start(async (key, context) => {
      if (isBad(key)) return hangs(key, context);
      waits.push(Date.now() - (sent.get(keyText(key)) ?? 0));
      await sleep(20);
      return done;
    });
    await send(...load);
    await vi.advanceTimersByTimeAsync(after);
    for (let n = 0; n < 300; n++) {
      const key = healthy(n);
      sent.set(keyText(key), Date.now());
      await send(key);
      await vi.advanceTimersByTimeAsync(200);
    }
    await stop();
    return waits;
  }

  const frozen = (cluster: string, count: number) =>
    Array.from({ length: count }, (_, n) => shoot(cluster, `p${n % 7}`, n));

  it.each([
    ['a frozen seed of 300 keys does not delay', frozen('dead', 300), (n: number) => shoot('alive', 'p', n)],
    [
      'five frozen seeds do not delay',
      ['d1', 'd2', 'd3', 'd4', 'd5'].flatMap((cluster) => frozen(cluster, 100)),
      (n: number) => shoot('alive', 'p', n),
    ],
    [
      'a project whose shoots hang does not delay, in the same seed,',
      Array.from({ length: 300 }, (_, n) => shoot('seed', 'bad', n)),
      (n: number) => shoot('seed', 'good', n),
    ],
  ])('%s the changes of another tenant', async (_, load, healthy) => {
    const isBad = (key: ReconcileKey) => load.some((other) => keyText(other) === keyText(key));
    const waits = await waitsBeside(load, healthy, isBad);
    expect(waits).toHaveLength(300);
    // The queue before this one, with ten slots for all: 240 s.
    expect(Math.max(...waits)).toBeLessThan(200);
  });

  it('150 projects of a seed whose shoots hang delay another one only until they are known', async () => {
    const load = Array.from({ length: 600 }, (_, n) => shoot('seed', `bad${n % 150}`, n));
    const isBad = ({ namespace }: ReconcileKey) => namespace.startsWith('shoot--bad');
    const waits = await waitsBeside(load, (n) => shoot('seed', 'good', n), isBad, 45_000);
    expect(waits).toHaveLength(300);
    expect(Math.max(...waits)).toBeLessThan(200);
  });

  it('lets runs that hang give way within their own project', async () => {
    const load = Array.from({ length: 20 }, (_, n) => shoot('seed', 'same', n));
    const isBad = (key: ReconcileKey) => load.some((other) => keyText(other) === keyText(key));
    const waits = await waitsBeside(load, (n) => shoot('seed', 'same', 1000 + n), isBad);
    expect(waits).toHaveLength(300);
    expect(waits.filter((wait) => wait > 5000).length).toBeLessThan(30);
  });

  it('abandons a run that ignores the end of its time, and retries its key', async () => {
    let runs = 0;
    const { send, stop, lines } = start(() => {
      runs++;
      return new Promise(() => {});
    });
    await send(keyOf(1));
    await vi.advanceTimersByTimeAsync(9_500);
    expect(lines).toContainEqual(
      expect.objectContaining({ outcome: 'retry', error: expect.stringContaining('exceeded the time limit') }),
    );
    await vi.advanceTimersByTimeAsync(1_000);
    expect(runs).toBe(2);
    await stop();
  });

  it('starts no more than 80 runs in a day for a key that always fails, and lists it as a dead letter', async () => {
    let runs = 0;
    const { send, queue, stop } = start(async () => {
      runs++;
      throw new RetryableError('the seed rejects it');
    });
    await send(keyOf(1));
    const perHour: number[] = [];
    for (let hour = 0; hour < 24; hour++) {
      const before = runs;
      await queue.send([changeOf({ key: keyOf(1), cause: { type: 'resync', epoch: hour } })]);
      await vi.advanceTimersByTimeAsync(3_600_000);
      perHour.push(runs - before);
    }
    expect(runs).toBeLessThan(80);
    // With one more chain for each resync there were 80 in each hour.
    expect(Math.max(...perHour.slice(1))).toBeLessThanOrEqual(6);
    expect(perHour.at(-1)).toBe(1);
    expect(queue.deadLetters.list().deadLetters).toEqual([
      expect.objectContaining({ key: keyOf(1), attempts: 40, reason: 'the seed rejects it' }),
    ]);
    await stop();
  });

  it('lists what can never succeed as a dead letter, until it succeeds', async () => {
    let isBroken = true;
    const { send, queue, stop, sums } = start(async () => {
      if (isBroken) throw new TerminalError('Extension a/b can never be');
      return done;
    });
    await send(keyOf(1));
    await vi.advanceTimersByTimeAsync(100);
    expect(queue.deadLetters.list().deadLetters).toEqual([
      {
        ...{
          function: FUNCTION,
          key: keyOf(1),
          causes: [causeOf()],
          reason: 'Extension a/b can never be',
          attempts: 1,
        },
        ...{ since: expect.any(String), last: expect.any(String) },
      },
    ]);
    expect(sums.get(`terminal_total{function=${FUNCTION}}`)).toBe(1);
    isBroken = false;
    await send(keyOf(1));
    await vi.advanceTimersByTimeAsync(100);
    expect(queue.deadLetters.list()).toEqual({ deadLetters: [], dropped: 0 });
    await stop();
  });

  it('parks the changes of a cluster that is down, and runs them at once when it answers', async () => {
    const health = createClusterHealth();
    health.declare('seed', 'ECONNREFUSED');
    const ran: string[] = [];
    const { send, queue, stop } = start(
      async ({ cluster }) => {
        ran.push(cluster);
        return done;
      },
      { health },
    );
    await send(shoot('seed', 'a', 1), shoot('other', 'a', 1));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ran).toEqual(['other']);
    expect(queue.depths()[0]?.depth.parked).toBe(1);
    health.declare('seed', undefined);
    await vi.advanceTimersByTimeAsync(1);
    expect(ran).toEqual(['other', 'seed']);
    await stop();
  });

  it('retries what needs the garden when the garden answers again, and does not wait longer than the back-off', async () => {
    const health = createClusterHealth();
    health.declare('garden', 'ECONNREFUSED');
    const attempts: number[] = [];
    const begun = Date.now();
    const { send, stop } = start(
      async () => {
        attempts.push(Math.round((Date.now() - begun) / 1000));
        if (!health.isUp('garden')) throw new ClusterDownError('garden', 'the garden does not answer');
        return done;
      },
      { health },
    );
    await send(keyOf(1));
    await vi.advanceTimersByTimeAsync(3_600_000);
    const before = attempts.length;
    expect(before).toBeGreaterThan(8);
    health.declare('garden', undefined);
    await vi.advanceTimersByTimeAsync(1);
    expect(attempts).toHaveLength(before + 1);
    expect(attempts.at(-1)).toBe(3600);
    await stop();
  });

  it('gives up no change because a cluster is down for days', async () => {
    let isDown = true;
    const { send, queue, stop, lines } = start(async () => {
      if (isDown) throw new ClusterDownError('garden', 'the garden does not answer');
      return done;
    });
    await send(keyOf(1));
    await vi.advanceTimersByTimeAsync(3 * 86_400_000);
    expect(queue.deadLetters.list().deadLetters).toEqual([]);
    isDown = false;
    await vi.advanceTimersByTimeAsync(900_000);
    expect(lines.at(-1)).toMatchObject({ outcome: 'done' });
    await stop();
  });
});

describe('a dead letter', () => {
  it('never quotes an error that may contain a secret', async () => {
    const secret = '-----BEGIN OPENSSH PRIVATE KEY-----';
    const { send, queue, stop } = start(async ({ namespace }) => {
      const error = Object.assign(new TerminalError('It can never be.'), { cause: new Error(secret) });
      throw namespace === keyOf(1).namespace ? error : new Error(`cannot use ${secret}`);
    });
    vi.useFakeTimers();
    await send(keyOf(1), keyOf(2));
    await vi.advanceTimersByTimeAsync(8 * 3_600_000);
    const { deadLetters } = queue.deadLetters.list();
    expect(deadLetters).toHaveLength(2);
    expect(JSON.stringify(deadLetters)).not.toContain('PRIVATE');
    await stop();
    vi.useRealTimers();
  });
});

describe('many failing keys', () => {
  it('keep a limited number of dead letters and nothing else', async () => {
    const { send, queue, stop, lines } = start(async () => {
      throw new TerminalError('never');
    });
    const keys = Array.from({ length: 5000 }, (_, n) => keyOf(n));
    for (let round = 1; round <= 2; round++) {
      await send(...keys);
      await vi.waitFor(() => expect(lines.length).toBeGreaterThanOrEqual(5000 * round), { timeout: 60_000 });
    }
    expect(queue.deadLetters.list().deadLetters).toHaveLength(1000);
    expect(queue.depths()[0]?.depth).toEqual({ waiting: 0, delayed: 0, running: 0, parked: 0 });
    await stop();
  });
});
