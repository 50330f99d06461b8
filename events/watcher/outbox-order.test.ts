import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { createOutbox, type OutboxOptions } from './outbox.ts';
import { quick, until } from './testing.ts';

const key = (name: string, cluster = 'seed') => ({ cluster, namespace: 'a', name });
const cause = (flags: object = {}): Cause => ({
  ...{ type: 'object', cluster: 'seed', kind: 'Extension', namespace: 'a', name: 'x', uid: 'u', resourceVersion: '1' },
  ...flags,
});
const resync: Cause = { type: 'resync', epoch: 1 };
const names = (changes: ChangeRequest[]) => changes.map(({ key: { name } }) => name);

/** An outbox with what it sent: attempt by attempt, and when. */
function outboxWith(options: Partial<OutboxOptions> = {}) {
  const attempts: string[][] = [];
  const sent: { name: string; at: number }[] = [];
  const outbox = createOutbox({
    function: 'keys',
    log: createLog('error', () => {}),
    metrics: noMetrics,
    timing: quick,
    ...options,
    async send(changes) {
      attempts.push(names(changes));
      await options.send?.(changes);
      sent.push(...names(changes).map((name) => ({ name, at: performance.now() })));
    },
  });
  return { outbox, attempts, sent, [Symbol.asyncDispose]: () => outbox.stop() };
}

test('sends what is awaited first, then live changes, and last what a list or the resync has found', async () => {
  await using one = outboxWith();
  one.outbox.add(key('resync'), resync);
  one.outbox.add(key('listed'), cause({ listed: true }));
  one.outbox.add(key('live'), cause());
  one.outbox.add(key('awaited'), cause({ awaited: true, listed: true }));
  await one.outbox.sent();
  expect(one.attempts).toEqual([['awaited', 'live', 'resync', 'listed']]);
});

test('a waiting key that becomes awaited passes all others', async () => {
  await using one = outboxWith();
  for (let index = 0; index < 2000; index++) one.outbox.add(key(`x${index}`), cause({ listed: true }));
  one.outbox.add(key('x1999'), cause({ awaited: true, name: 'y' }));
  await one.outbox.sent();
  expect(one.attempts[0]?.[0]).toBe('x1999');
  expect(one.attempts.flat()).toHaveLength(2000);
});

test("thousands of one cluster's changes do not delay another cluster's", async () => {
  await using one = outboxWith();
  for (let index = 0; index < 5000; index++) one.outbox.add(key(`x${index}`, 'large'), cause());
  for (let index = 0; index < 100; index++) one.outbox.add(key(`y${index}`, 'small'), cause());
  await one.outbox.sent();
  expect(one.attempts[0]).toEqual(expect.arrayContaining(['y0', 'y99']));
  expect(one.attempts).toHaveLength(11);
});

test.each([
  ['lists it as unsent', (changes: ChangeRequest[]) => changes.filter(({ key: { name } }) => name === 'poison')],
  ['does not say which', () => undefined],
])('a change that the queue never takes delays others only at first, when the error %s', async (_, unsentOf) => {
  await using one = outboxWith({
    async send(changes) {
      if (!names(changes).includes('poison')) return;
      throw Object.assign(new Error('no'), { unsent: unsentOf(changes) });
    },
  });
  one.outbox.add(key('poison'), cause());
  for (let index = 0; index < 30; index++) one.outbox.add(key(`x${index}`), cause());
  const arrived = () => new Set([...one.attempts.flat()]);
  await until(() => expect(one.outbox.size()).toBe(1));
  expect(arrived().size).toBe(31);
  // The last of the others may have gone after it, and then there is no problem until it fails again.
  await until(() => expect(one.outbox.problem()).toBe('no'));
  // From now on it goes alone, and fails alone.
  await sleep(100);
  const before = one.attempts.length;
  for (let index = 0; index < 5; index++) one.outbox.add(key(`z${index}`), cause());
  await until(() => expect(one.attempts.slice(before).flat()).toContain('z4'));
  await until(() => expect(one.outbox.size()).toBe(1));
  const mixed = one.attempts.slice(before).filter((attempt) => attempt.includes('poison') && attempt.length > 1);
  if (unsentOf([]) === undefined) expect(mixed).toEqual([]);
});

test('what arrives goes before the next of many changes that the queue does not take', async () => {
  let onAttempt = () => {};
  await using one = outboxWith({
    timing: { ...quick, backoffCapMs: 1000 },
    async send(changes) {
      const unsent = changes.filter(({ key: { name } }) => name.startsWith('poison'));
      if (unsent.length === changes.length) onAttempt();
      if (unsent.length > 0) throw Object.assign(new Error('no'), { unsent });
    },
  });
  for (let index = 0; index < 100; index++) one.outbox.add(key(`poison${index}`), cause());
  one.outbox.add(key('other'), cause());
  await until(() => expect(one.attempts.filter(({ length }) => length === 1).length).toBeGreaterThan(5));
  const attempts = await new Promise<number>((resolve) => {
    onAttempt = () => {
      onAttempt = () => {};
      one.outbox.add(key('fresh'), cause());
      resolve(one.attempts.length);
    };
  });
  await until(() => expect(one.attempts.flat()).toContain('fresh'));
  expect(one.attempts.slice(attempts).findIndex((names) => names.includes('fresh'))).toBeLessThanOrEqual(1);
});

test('at a pace, sends a limited number of background changes per second, and all others at once', async () => {
  await using one = outboxWith({ pace: { perSecond: 100, isUp: () => true } });
  const began = performance.now();
  for (let index = 0; index < 150; index++) one.outbox.add(key(`x${index}`), cause({ listed: true }));
  await until(() => expect(one.sent.length).toBeGreaterThanOrEqual(100));
  one.outbox.add(key('awaited'), cause({ awaited: true }));
  await until(() => expect(namesOf(one.sent)).toContain('awaited'));
  expect(namesOf(one.sent).indexOf('awaited')).toBeLessThan(140);
  await until(() => expect(one.sent).toHaveLength(151));
  // 100 at once, 50 in half a second.
  expect((one.sent.at(-1)?.at ?? 0) - began).toBeGreaterThan(300);
});

const namesOf = (sent: { name: string }[]) => sent.map(({ name }) => name);

test('at a pace, a function that forwards changes has a pace of its own', async () => {
  const pace = { perSecond: 1000, senders: { names: ['fan-out'], perSecond: 1 }, isUp: () => true };
  await using other = outboxWith({ pace });
  await using fanOut = outboxWith({ pace, function: 'fan-out' });
  for (const { outbox } of [other, fanOut]) {
    for (let index = 0; index < 50; index++) outbox.add(key(`x${index}`, 'garden'), cause({ listed: true }));
    outbox.add(key('edited', 'garden'), cause());
  }
  await until(() => expect(other.sent).toHaveLength(51));
  await until(() => expect(namesOf(fanOut.sent)).toContain('edited'));
  expect(fanOut.sent.length).toBeLessThan(10);
});

test('at a pace, sent() does not wait for background changes', async () => {
  await using one = outboxWith({ pace: { perSecond: 1, isUp: () => true } });
  for (let index = 0; index < 50; index++) one.outbox.add(key(`x${index}`), resync);
  one.outbox.add(key('live'), cause());
  await one.outbox.sent();
  expect(one.attempts.flat()).toContain('live');
  expect(one.outbox.size()).toBeGreaterThan(40);
});

test('sent() does not wait for what may wait for other changes of its key, but for what was refused', async () => {
  let isRefused = true;
  await using one = outboxWith({
    async send() {
      if (isRefused) throw new Error('refused');
    },
  });
  one.outbox.add(key('later'), cause({ listed: true }), 60_000);
  await one.outbox.sent();
  one.outbox.add(key('now'), cause());
  const sent = one.outbox.sent();
  await until(() => expect(one.attempts.length).toBeGreaterThan(1));
  isRefused = false;
  await sent;
  expect(one.sent.map(({ name }) => name)).toEqual(['now']);
});

test('holds background changes of a cluster that is down, and sends them when it is up', async () => {
  const down = new Set(['dead']);
  await using one = outboxWith({ pace: { perSecond: 1000, isUp: (cluster) => !down.has(cluster) } });
  for (let index = 0; index < 50; index++) one.outbox.add(key(`x${index}`, 'dead'), resync);
  one.outbox.add(key('live', 'dead'), cause());
  one.outbox.add(key('resync', 'good'), resync);
  await until(() => expect(one.attempts.flat().sort()).toEqual(['live', 'resync']));
  await sleep(50);
  expect(one.outbox.size()).toBe(50);
  // The same keys, however often the resync sends them.
  for (let index = 0; index < 50; index++) one.outbox.add(key(`x${index}`, 'dead'), { type: 'resync', epoch: 2 });
  expect(one.outbox.size()).toBe(50);
  down.clear();
  one.outbox.resume();
  await until(() => expect(one.outbox.size()).toBe(0));
});
