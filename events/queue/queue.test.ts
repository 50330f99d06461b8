import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
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

  /** Sends a change of a healthy tenant every 200 ms beside one load, and returns how long each waited for its run. */
  async function waitsBeside(
    load: ReconcileKey[],
    healthy: (n: number) => ReconcileKey,
    isBad: (key: ReconcileKey) => boolean,
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
    await vi.advanceTimersByTimeAsync(5);
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
