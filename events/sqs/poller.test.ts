import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../shared/runtime/log.ts';
import { lazySqs, type Sqs } from '../sqs/connect.ts';
import type { SqsLambda } from '../sqs/lambda.ts';
import { changeOf, definitionOf, keptLog, keyOf, lookInto } from '../testing.ts';
import type { SqsBridge } from './bridge.ts';
import { type Poller, type PollerOptions, startPoller } from './poller.ts';
import { openEmulatedBridge } from './testing.ts';

const names = ['exclusive', 'partial', 'thrown', 'long', 'drained', 'late', 'standard', 'away'] as const;
type Name = (typeof names)[number];
const VISIBILITY_SECONDS = 2;

let bridge: SqsBridge;
let sqs: Sqs;
beforeAll(async () => {
  const definitions = names.map((name) => definitionOf(name, name === 'standard' ? { queue: 'standard' } : {}));
  bridge = await openEmulatedBridge({
    definitions,
    log: createLog('error', () => {}),
    visibilitySeconds: VISIBILITY_SECONDS,
  });
  sqs = await lazySqs({ endpoint: bridge.endpoint })();
});
afterAll(() => bridge.stop());

function poll(name: Name, lambda: SqsLambda, options: Partial<PollerOptions> = {}): Poller {
  const defaults = { sqs, log: createLog('error', () => {}), waitSeconds: 1, visibilitySeconds: VISIBILITY_SECONDS };
  return startPoller({ ...defaults, name, queueUrl: bridge.queues.queue(name), lambda, ...options });
}

const send = (name: Name, ...changes: [n: number, resourceVersion: number][]) =>
  bridge.sender.send(
    changes.map(([n, version]) =>
      changeOf({ function: name, key: keyOf(n), cause: { type: 'redrive', nonce: `${n}-${version}` } }),
    ),
  );
const queueOf = (name: Name) => lookInto(bridge.endpoint, `shoot-flux-${name}${name === 'standard' ? '' : '.fifo'}`);
const isEmpty = async (name: Name) => {
  const { ready, inflight } = await queueOf(name);
  return ready.length + inflight.length === 0;
};
const soon = { timeout: 60_000, interval: 20 };
const ok = { batchItemFailures: [] };

// Alone, because a thousand messages keep the process busy for longer than a lease on a slow machine.
describe('poller', () => {
  it('runs groups concurrently up to the limit, and each group once at a time', async () => {
    const active = new Set<string>();
    const seen = new Map<string, string[]>();
    let violations = 0;
    let most = 0;
    const poller = poll(
      'exclusive',
      async ({ Records }) => {
        const group = Records[0]?.attributes.MessageGroupId ?? '';
        if (active.has(group)) violations++;
        active.add(group);
        most = Math.max(most, active.size);
        seen.set(group, [...(seen.get(group) ?? []), ...Records.map(({ body }) => JSON.parse(body).cause.nonce)]);
        await sleep(2);
        active.delete(group);
        return ok;
      },
      { concurrency: 7 },
    );
    const changes = Array.from({ length: 1000 }, (_, i): [number, number] => [i % 50, Math.floor(i / 50)]);
    for (let i = 0; i < changes.length; i += 250) await send('exclusive', ...changes.slice(i, i + 250));
    await vi.waitFor(async () => expect(await isEmpty('exclusive')).toBe(true), soon);
    await poller.stop();
    expect(violations).toBe(0);
    expect(most).toBe(7);
    expect([...seen.values()].flat()).toHaveLength(1000);
  });
});

describe.concurrent('poller', () => {
  it('deletes only the messages that the response does not name', async () => {
    const receives = new Map<string, number>();
    const poller = poll('partial', async ({ Records }) => {
      const failed = Records.filter(({ body }) => {
        const { nonce } = JSON.parse(body).cause;
        receives.set(nonce, (receives.get(nonce) ?? 0) + 1);
        return nonce === '2-1' && receives.get(nonce) === 1;
      });
      return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    });
    await send('partial', [1, 1], [2, 1], [3, 1]);
    await vi.waitFor(async () => expect(await isEmpty('partial')).toBe(true), soon);
    await poller.stop();
    expect(Object.fromEntries(receives)).toEqual({ '1-1': 1, '2-1': 2, '3-1': 1 });
  });

  it('keeps the messages when the function throws', async () => {
    const { log, lines } = keptLog();
    let calls = 0;
    const poller = poll(
      'thrown',
      async () => {
        calls++;
        if (calls === 1) throw new SyntaxError('cannot parse hunter2');
        return ok;
      },
      { log },
    );
    await send('thrown', [1, 1]);
    await vi.waitFor(async () => expect(await isEmpty('thrown')).toBe(true), soon);
    await poller.stop();
    expect(calls).toBe(2);
    expect(lines).toContainEqual(expect.objectContaining({ message: 'batch failed' }));
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });

  it('renews the lease of a run that outlasts the visibility timeout', async () => {
    let runs = 0;
    const slow: SqsLambda = async () => {
      runs++;
      await sleep(2_500 * VISIBILITY_SECONDS);
      return ok;
    };
    // Two pollers, like two processes at one queue: the second must not receive the message that the first works on.
    const pollers = [poll('long', slow), poll('long', slow)];
    await send('long', [1, 1]);
    await vi.waitFor(async () => expect([runs, await isEmpty('long')]).toEqual([1, true]), soon);
    await Promise.all(pollers.map((poller) => poller.stop()));
    expect(runs).toBe(1);
  });

  it('on stop, waits for runs and returns messages that no run has begun', async () => {
    const started = Promise.withResolvers<void>();
    const ended: string[] = [];
    const poller = poll(
      'drained',
      async ({ Records }) => {
        started.resolve();
        await sleep(150);
        ended.push(...Records.map(({ body }) => JSON.parse(body).cause.nonce));
        return ok;
      },
      { concurrency: 1 },
    );
    await send('drained', [1, 1], [2, 1], [3, 1]);
    await started.promise;
    await poller.stop();
    const { ready, inflight } = await queueOf('drained');
    expect(ended).toHaveLength(1);
    expect(inflight).toHaveLength(0);
    expect(ready.map(({ body }) => JSON.parse(body).cause.nonce)).toEqual(
      expect.arrayContaining(['1-1', '2-1', '3-1'].filter((nonce) => !ended.includes(nonce))),
    );
    expect(ready).toHaveLength(2);
  });

  it('on stop, returns the messages of runs that exceed the deadline', async () => {
    const started = Promise.withResolvers<void>();
    const never = new Promise<never>(() => {});
    const poller = poll('late', () => {
      started.resolve();
      return never;
    });
    await send('late', [1, 1]);
    await started.promise;
    await poller.stop(100);
    const { ready, inflight } = await queueOf('late');
    expect([ready.length, inflight.length]).toEqual([1, 0]);
  });

  it('runs each message of a standard queue on its own', async () => {
    const batches: number[] = [];
    const poller = poll('standard', async ({ Records }) => {
      batches.push(Records.length);
      return ok;
    });
    const { commands, client } = sqs;
    const entry = (Id: string) => ({ Id, MessageBody: 'same' });
    await client.send(
      new commands.SendMessageBatchCommand({
        QueueUrl: bridge.queues.queue('standard'),
        Entries: ['1', '2', '3'].map(entry),
      }),
    );
    await vi.waitFor(async () => expect([batches, await isEmpty('standard')]).toEqual([[1, 1, 1], true]), soon);
    await poller.stop();
  });

  it('continues after an outage of SQS', async () => {
    const { log, lines } = keptLog();
    let calls = 0;
    const broken = {
      ...sqs,
      client: Object.create(sqs.client, {
        send: {
          value: (command: never, options: never) => {
            calls++;
            return calls < 3 ? Promise.reject(new Error('connection reset')) : sqs.client.send(command, options);
          },
        },
      }),
    };
    let runs = 0;
    const poller = poll(
      'away',
      async () => {
        runs++;
        return ok;
      },
      { log, sqs: broken },
    );
    await send('away', [1, 1]);
    await vi.waitFor(async () => expect([runs, await isEmpty('away')]).toEqual([1, true]), soon);
    await poller.stop();
    expect(lines.filter(({ message }) => message === 'receive failed')).toHaveLength(2);
  });
});
