import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RetryableError } from '../../shared/errors.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { openQueue } from '../queue/queue.ts';
import { changeOf, definitionOf, keptLog, keptMetrics, keyOf } from '../testing.ts';
import { createEventBridge } from './bridge.ts';
import { delayedEventOf, eventOf } from './event.ts';

const START = Date.parse('2026-05-01T12:00:00.000Z');
const waits = (seconds: number, n = 1, attempt?: number): ChangeRequest => ({
  ...changeOf({ key: keyOf(n) }),
  cause: {
    type: 'notBefore',
    notBefore: new Date(START + seconds * 1000).toISOString(),
    ...(attempt !== undefined && { attempt }),
  },
});

const stops: (() => Promise<void>)[] = [];

function start() {
  const sent: ChangeRequest[] = [];
  const { log, lines } = keptLog();
  const { metrics, sums } = keptMetrics();
  const health = createClusterHealth();
  const sender = { send: async (changes: ChangeRequest[]) => void sent.push(...changes) };
  const definitions = [definitionOf('managed-resources')];
  const queue = openQueue({ definitions, metrics, health, concurrency: Infinity });
  const forwarding = queue.forward({ sender: { send: (changes) => sender.send(changes) }, log, metrics });
  stops.push(forwarding.stop);
  const bridge = createEventBridge({ functions: ['managed-resources'], queue, health, log, metrics });
  const now = () => new Date();
  const wait = (change: ChangeRequest) => bridge.receive(delayedEventOf(change, now()));
  const dead = (change: ChangeRequest, code: number, sentence = '') => {
    const { attributes, data } = eventOf(change, now());
    const error = { knativeerrordest: 'http://f', knativeerrorcode: String(code), knativeerrordata: sentence };
    return bridge.receive({ attributes: { ...attributes, ...error }, data });
  };
  const goesDown = () => health.declare('local', 'ECONNREFUSED');
  const comesUp = () => health.declare('local', undefined);
  return { bridge, sent, lines, sums, sender, goesDown, wait, dead, comesUp };
}

beforeEach(() => void vi.useFakeTimers({ now: START }));
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
  vi.useRealTimers();
});

describe('the timers of the bridge', () => {
  it('send a change when it is due, and not before', async () => {
    const { bridge, sent, wait } = start();
    expect(await wait(waits(30))).toEqual({ status: 204 });
    await vi.advanceTimersByTimeAsync(29_000);
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(sent).toMatchObject([waits(30)]);
    expect(bridge.waiting()).toBe(0);
  });

  it('send a change an hour later at most, whatever time it names: the resync would', async () => {
    const { sent, wait } = start();
    await wait(waits(5_000 * 365 * 86_400));
    await vi.advanceTimersByTimeAsync(3_601_000);
    expect(sent).toHaveLength(1);
  });

  it('are only for functions that there are, also as dead letters: each has metrics', async () => {
    const { bridge, wait, dead, sums } = start();
    const forged = { ...waits(10), function: 'forged' };
    await expect(wait(forged)).rejects.toThrow('There is no function forged; send changes of managed-resources.');
    await expect(dead(forged, 422)).rejects.toThrow('There is no function forged');
    expect(bridge.waiting()).toBe(0);
    expect(bridge.deadLetters.list().deadLetters).toEqual([]);
    expect(JSON.stringify(sums)).not.toContain('forged');
  });

  it('are no more than memory holds, also while the sink takes nothing', async () => {
    const { bridge, sender, wait } = start();
    sender.send = async () => Promise.reject(new RetryableError('the sink answered 503'));
    for (let n = 0; n < 50_000; n++) await wait(waits(-1, n));
    expect(bridge.waiting()).toBe(50_000);
    await expect(wait(waits(-1, 50_000))).rejects.toThrow('The bridge holds 50000 changes that wait');
  });

  it('keep what is due while its cluster is down, and send it and all retries when it answers again', async () => {
    const { sent, wait, goesDown, comesUp } = start();
    goesDown();
    await wait(waits(10, 1));
    await wait(waits(900, 2, 9));
    await wait(waits(900, 3));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent).toEqual([]);
    comesUp();
    await vi.advanceTimersByTimeAsync(10);
    expect(sent).toMatchObject([waits(10, 1), waits(900, 2, 9)]);
  });
});

describe('a dead letter of the broker', () => {
  it('is kept when the function has refused it permanently', async () => {
    const { bridge, dead, sums, lines } = start();
    // Knative passes the answer on in Base64.
    const answer = Buffer.from('The key is bad.\n').toString('base64');
    expect(await dead(changeOf(), 422, answer)).toEqual({ status: 204 });
    expect(bridge.deadLetters.list().deadLetters).toMatchObject([
      { function: 'managed-resources', key: changeOf().key, reason: 'The key is bad.' },
    ]);
    expect(sums.get('terminal_total{function=managed-resources}')).toBe(1);
    expect(lines).toMatchObject([{ level: 'error', message: 'dead letter', error: 'The key is bad.' }]);
  });

  it('has the reason that the function gave, also when the dispatcher has not unwrapped it', async () => {
    const { bridge, dead } = start();
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const wrapped = JSON.stringify({ errdestination: 'http://keys.ns', errresponsebody: base64('The key is bad.\n') });
    for (const [n, data] of [base64(wrapped), wrapped, '{"errresponsebody":', '{"errresponsebody":null}'].entries()) {
      await dead(changeOf({ key: keyOf(n) }), 422, data);
    }
    const reasons = bridge.deadLetters.list().deadLetters.map(({ key, reason }) => [key.namespace, reason]);
    expect(Object.fromEntries(reasons)).toEqual({
      [keyOf(0).namespace]: 'The key is bad.',
      [keyOf(1).namespace]: 'The key is bad.',
      [keyOf(2).namespace]: '{"errresponsebody":',
      [keyOf(3).namespace]: '{"errresponsebody":null}',
    });
  });

  it.each([503, 500, 429, 404, 0])('with code %i is retried, ever later, and given up in the end', async (code) => {
    const { bridge, dead, sent } = start();
    let rounds = 0;
    for (let change: ChangeRequest | undefined = changeOf(); change !== undefined; change = sent.pop()) {
      await dead(change, code);
      await vi.advanceTimersByTimeAsync(24 * 3_600_000);
      rounds++;
    }
    expect(rounds).toBe(32);
    expect(bridge.deadLetters.list().deadLetters).toMatchObject([{ attempts: 40 }]);
  });

  it('is never given up while the cluster of its key is down', async () => {
    const { bridge, dead, sent, goesDown, comesUp } = start();
    let change = changeOf();
    for (let round = 0; round < 60; round++) {
      goesDown();
      await dead(change, 503);
      comesUp();
      await vi.advanceTimersByTimeAsync(10);
      change = sent.pop() ?? change;
    }
    expect(bridge.deadLetters.list().deadLetters).toEqual([]);
    expect(change.cause).toMatchObject({ type: 'notBefore', attempt: 39 });
  });

  it('of a resync is dropped: the next one is its retry', async () => {
    const { bridge, dead } = start();
    await dead(changeOf({ cause: { type: 'resync', epoch: 1 } }), 503);
    expect(bridge.waiting()).toBe(0);
    expect(bridge.deadLetters.list().deadLetters).toEqual([]);
  });

  it('is not confused with an event that the bridge has sent itself', async () => {
    const { bridge } = start();
    await expect(bridge.receive(eventOf(changeOf(), new Date()))).rejects.toThrow('correct the filter of the Trigger');
  });
});
