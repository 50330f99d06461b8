import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { createOutbox } from './outbox.ts';
import { quick } from './testing.ts';

const key = (name: string) => ({ cluster: 'seed', namespace: 'a', name });
const cause = (name: string, resourceVersion: string): Cause => ({
  type: 'object',
  cluster: 'seed',
  kind: 'Extension',
  namespace: 'a',
  name,
  uid: 'u',
  resourceVersion,
});

/** An outbox whose attempts end when the test says so. */
function outboxWithAttempts(debounceMs = 1) {
  const attempts: { changes: ChangeRequest[]; succeed: () => void; fail: (error?: Error) => void }[] = [];
  const outbox = createOutbox({
    function: 'keys',
    send: (changes) =>
      new Promise<void>((resolve, reject) =>
        attempts.push({ changes, succeed: resolve, fail: (error = new Error('no')) => reject(error) }),
      ),
    log: createLog('error'),
    metrics: noMetrics,
    timing: { ...quick, debounceMs },
  });
  /** Resolves with the next attempt. */
  const attempt = () => vi.waitUntil(() => attempts.shift(), { timeout: 60_000, interval: 5 });
  return { outbox, attempt, attempts };
}

const versions = (changes: ChangeRequest[]) =>
  changes.map(
    (change) =>
      `${change.key.name} ${change.cause.type === 'object' ? change.cause.resourceVersion : change.cause.type}`,
  );

test('sends only the latest version of an object', async () => {
  const { outbox, attempt } = outboxWithAttempts();
  outbox.add(key('x'), cause('x', '1'));
  outbox.add(key('y'), cause('y', '2'));
  outbox.add(key('x'), cause('x', '3'));
  expect(versions((await attempt()).changes)).toEqual(['x 3', 'y 2']);
});

test('sends a change that may wait together with others of its key, and delays no other key', async () => {
  const { outbox, attempt, attempts } = outboxWithAttempts();
  outbox.add(key('patient'), cause('patient', '1'), 60_000);
  outbox.add(key('x'), cause('x', '2'));
  const first = await attempt();
  expect(versions(first.changes)).toEqual(['x 2']);
  first.succeed();
  await sleep(30);
  expect(attempts).toEqual([]);
  expect(outbox.size()).toBe(1);
  outbox.add(key('patient'), cause('patient', '3'));
  expect(versions((await attempt()).changes)).toEqual(['patient 3']);
});

test('sends a change that may wait after its time', async () => {
  const { outbox, attempt } = outboxWithAttempts();
  outbox.add(key('x'), cause('x', '1'), 20);
  expect(versions((await attempt()).changes)).toEqual(['x 1']);
});

test('sends a key again only after the attempt under way', async () => {
  const { outbox, attempt, attempts } = outboxWithAttempts();
  outbox.add(key('x'), cause('x', '1'));
  const first = await attempt();
  outbox.add(key('x'), cause('x', '2'));
  await sleep(30);
  expect(attempts).toEqual([]);
  first.succeed();
  expect(versions((await attempt()).changes)).toEqual(['x 2']);
});

test('repeats a failed attempt before newer changes, with the latest versions', async () => {
  const { outbox, attempt } = outboxWithAttempts();
  outbox.add(key('x'), cause('x', '1'));
  outbox.add(key('y'), cause('y', '2'));
  const first = await attempt();
  outbox.add(key('z'), cause('z', '3'));
  outbox.add(key('y'), cause('y', '4'));
  first.fail();
  expect(versions((await attempt()).changes)).toEqual(['x 1', 'y 4', 'z 3']);
});

test('repeats only the unsent changes of a partly failed attempt', async () => {
  const { outbox, attempt } = outboxWithAttempts();
  outbox.add(key('x'), cause('x', '1'));
  outbox.add(key('y'), cause('y', '2'));
  const first = await attempt();
  first.fail(Object.assign(new Error('no'), { unsent: first.changes.slice(1) }));
  expect(versions((await attempt()).changes)).toEqual(['y 2']);
});

test('never repeats the id of an attempt that may have arrived when there are newer causes', async () => {
  const { outbox, attempt } = outboxWithAttempts();
  const seen: unknown[] = [];
  outbox.add(key('x'), cause('b', '1'));
  for (const news of [cause('a', '2'), cause('c', '3'), cause('b', '4')]) {
    const current = await attempt();
    seen.push(current.changes);
    outbox.add(key('x'), news);
    current.fail();
  }
  seen.push((await attempt()).changes);
  expect(new Set(seen.map((changes) => JSON.stringify(changes))).size).toBe(4);
});

test('sent() resolves when everything that was added is sent', async () => {
  const { outbox, attempt } = outboxWithAttempts();
  let done = false;
  outbox.add(key('x'), cause('x', '1'));
  const sent = outbox.sent().then(() => {
    done = true;
  });
  (await attempt()).fail();
  const second = await attempt();
  outbox.add(key('y'), cause('y', '2'));
  expect(done).toBe(false);
  second.succeed();
  await sent;
  expect(versions((await attempt()).changes)).toEqual(['y 2']);
});

test('drops a resync beside a change', async () => {
  const { outbox, attempt } = outboxWithAttempts();
  outbox.add(key('x'), { type: 'resync', epoch: 7 });
  outbox.add(key('x'), cause('x', '1'));
  outbox.add(key('y'), { type: 'resync', epoch: 7 });
  expect(versions((await attempt()).changes)).toEqual(['x 1', 'y resync']);
});

test('splits many changes into several attempts', async () => {
  const { outbox, attempt } = outboxWithAttempts(20);
  for (let index = 0; index < 501; index++) outbox.add(key(`x${index}`), cause('x', '1'));
  const first = await attempt();
  expect(first.changes).toHaveLength(500);
  first.succeed();
  expect((await attempt()).changes).toHaveLength(1);
});
