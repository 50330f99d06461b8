import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { keyText } from '../../shared/runtime/key.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';
import { openQueues, type Queues } from '../../test/sqs.ts';
import {
  causeOf,
  changeOf,
  definitionOf,
  eventOf,
  functionOf,
  keptLog,
  keptMetrics,
  keyOf,
  lambdaContext,
  lookInto,
  processDependencies,
  recordOf,
} from '../testing.ts';
import { createSqsLambda } from './lambda.ts';

let queues: Queues;
beforeAll(async () => {
  const definitions = ['managed-resources', 'terminal', 'exhausted', 'unreadable'].map((name) => definitionOf(name));
  queues = await openQueues(definitions);
});
afterAll(() => queues.stop());

/** A Lambda that sends to the SQS emulator, with a record of its visibility changes. */
function setup(handler: Handler, name = 'managed-resources', sender = queues.sender) {
  const hidden = new Map<string, number>();
  const { log, lines, text } = keptLog();
  const { metrics, sums } = keptMetrics();
  const lambda = createSqsLambda(functionOf(handler, name), {
    ...processDependencies({ log, metrics }),
    sender,
    visibility: async (receiptHandle, seconds) => void hidden.set(receiptHandle, seconds),
  });
  const run = async (...records: Parameters<typeof eventOf>) => {
    const response = await lambda(eventOf(...records), lambdaContext(name, 10));
    return response.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  };
  return { run, lambda, hidden, lines, text, sums };
}

const extensionChange = (resourceVersion: string, n = 1) =>
  changeOf({ key: keyOf(n), cause: causeOf({ resourceVersion }) });

describe('the Lambda of a function', () => {
  it('runs once for the changes of a key, with all their causes', async () => {
    const runs: string[][] = [];
    const { run, sums } = setup(async (key, { causes }) => {
      runs.push([
        keyText(key),
        ...causes.map((cause) => ('resourceVersion' in cause ? cause.resourceVersion : cause.type)),
      ]);
      return done;
    });
    const failures = await run(
      recordOf(extensionChange('1')),
      recordOf(extensionChange('1', 2)),
      recordOf(extensionChange('2')),
      recordOf(changeOf({ key: keyOf(1), cause: { type: 'resync', epoch: 4 } })),
    );
    expect(failures).toEqual([]);
    expect(runs).toEqual([
      [keyText(keyOf(1)), '1', '2', 'resync'],
      [keyText(keyOf(2)), '1'],
    ]);
    expect(sums.get('coalesced_total{function=managed-resources}')).toBe(2);
    expect(sums.get('reconcile_total{function=managed-resources,result=done}')).toBe(2);
  });

  it('runs different keys concurrently', async () => {
    const both = Promise.withResolvers<void>();
    let started = 0;
    const { run } = setup(async () => {
      started++;
      if (started === 2) both.resolve();
      await both.promise;
      return done;
    });
    expect(await run(recordOf(extensionChange('1', 1)), recordOf(extensionChange('1', 2)))).toEqual([]);
  });

  it('keeps the freshest message of a failed group, and of no other group', async () => {
    const { run, hidden, lines } = setup(async (key) => {
      if (key.namespace === keyOf(11).namespace) throw new RetryableError('the seed does not answer');
      return done;
    });
    const exhausted = { type: 'notBefore', notBefore: '2026-01-02T03:04:05Z', attempt: 7 } as const;
    const oldest = recordOf(changeOf({ key: keyOf(11), cause: exhausted }));
    const failures = await run(oldest, recordOf(extensionChange('1', 12)), recordOf(extensionChange('2', 11)));
    expect(failures).toEqual([]);
    expect(hidden.size).toBe(0);
    expect(await delayedCauses(keyOf(11).namespace)).toEqual([expect.objectContaining({ attempt: 1 })]);
    expect(await delayedCauses(keyOf(12).namespace)).toEqual([]);
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', outcome: 'retry', attempt: 1, error: 'the seed does not answer' }),
    );
  });

  it('puts off a change of a seed that its process does not serve, without running the function', async () => {
    let runs = 0;
    const { run, lines } = setup(async () => {
      runs++;
      return done;
    }, 'exhausted');
    const key = { ...keyOf(74), cluster: 'seed-of-another' };
    expect(await run(recordOf(changeOf({ function: 'exhausted', key })))).toEqual([]);
    expect(runs).toBe(0);
    expect(await delayedCauses(key.namespace)).toEqual([expect.objectContaining({ type: 'notBefore', attempt: 1 })]);
    const sentence = 'This process does not serve seed seed-of-another, only local; add it with --seed or SEEDS';
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', outcome: 'retry', error: expect.stringContaining(sentence) }),
    );
    const garden = { ...keyOf(75), cluster: 'garden' };
    await run(recordOf(changeOf({ function: 'exhausted', key: garden })));
    expect(runs).toBe(1);
  });

  it('gives up a change of a seed that nothing serves after 40 attempts, with a reason', async () => {
    const { run } = setup(async () => done, 'exhausted');
    const key = { ...keyOf(76), cluster: 'seed-of-another' };
    const cause = { type: 'notBefore', notBefore: new Date().toISOString(), attempt: 39 } as const;
    expect(await run(recordOf(changeOf({ function: 'exhausted', key, cause })))).toEqual([]);
    const { ready } = await lookInto(queues.endpoint, 'shoot-flux-exhausted-dead-letter.fifo');
    const letter = ready.find(({ body }) => body.includes(key.namespace));
    expect(letter?.messageAttributes.reason?.StringValue).toContain('does not serve seed seed-of-another');
  });

  it('keeps the place of a pass in a retry through the delay queue', async () => {
    const rest = { type: 'continue', after: 'm', token: 't', hop: 2, state: 'c.7', attempt: 8 } as const;
    const { run } = setup(() => Promise.reject(new RetryableError('no answer')));
    expect(await run(recordOf(changeOf({ key: keyOf(73), cause: rest })))).toEqual([]);
    expect(await delayedCauses(keyOf(73).namespace)).toEqual([{ ...rest, notBefore: expect.any(String), attempt: 9 }]);
  });

  it('retries at once after a conflict, and warns only about repeated conflicts', async () => {
    const { run, hidden, lines } = setup(() => Promise.reject(new ConflictError('changed meanwhile', 409, 'Conflict')));
    const record = recordOf(extensionChange('1'));
    expect(await run(record)).toEqual([record.messageId]);
    expect(hidden.get(record.receiptHandle)).toBe(0);
    await run(recordOf(extensionChange('1'), { receiveCount: 3 }));
    expect(lines.map(({ level, outcome }) => [level, outcome])).toEqual([
      ['info', 'retry'],
      ['warn', 'retry'],
    ]);
  });

  it('retries even when the visibility cannot be changed', async () => {
    const { run, lines, hidden } = setup(() => Promise.reject(new ConflictError('changed meanwhile', 409, 'Conflict')));
    hidden.set = () => {
      throw new RetryableError('SQS is away');
    };
    const record = recordOf(extensionChange('1'));
    expect(await run(record)).toEqual([record.messageId]);
    expect(lines).toContainEqual(
      expect.objectContaining({ message: 'visibility change failed', error: 'SQS is away' }),
    );
  });

  it('frees the group during a back-off, and keeps counting attempts', async () => {
    const key = keyOf(191);
    const { run, hidden, lines } = setup(() => Promise.reject(new RetryableError('no answer')));
    expect(await run(recordOf(changeOf({ key })))).toEqual([]);
    expect(hidden.size).toBe(0);
    const [cause] = (await delayedCauses(key.namespace)) as [Cause];
    expect(cause).toEqual({ type: 'notBefore', notBefore: expect.any(String), attempt: 1 });
    await run(recordOf(changeOf({ key, cause })));
    expect(lines.at(-1)).toMatchObject({ attempt: 2, outcome: 'retry' });
  });

  it('repeats a resync after a conflict, and drops it after any other failure', async () => {
    const errors = [new ConflictError('changed meanwhile', 409, 'Conflict'), new RetryableError('no answer')];
    const { run, lines } = setup(() => Promise.reject(errors.shift()));
    const key = keyOf(192);
    const record = recordOf(changeOf({ key, cause: { type: 'resync', epoch: 4 } }));
    expect(await run(record)).toEqual([record.messageId]);
    expect(await run(record)).toEqual([]);
    expect(lines.at(-1)).toMatchObject({ outcome: 'dropped', error: 'no answer' });
    expect(await delayedCauses(key.namespace)).toEqual([]);
  });

  it('puts off a change that was received three times without an end, and runs it when it returns', async () => {
    const key = keyOf(193);
    let runs = 0;
    const { run, lines } = setup(async () => {
      runs++;
      return done;
    });
    await run(recordOf(changeOf({ key }), { receiveCount: 3 }));
    expect(runs).toBe(1);
    expect(await run(recordOf(changeOf({ key }), { receiveCount: 4 }))).toEqual([]);
    expect(runs).toBe(1);
    expect(lines.at(-1)).toMatchObject({
      outcome: 'retry',
      error:
        'The Lambda managed-resources did not end a run for this change in 3 deliveries; see its log and its throttles, ' +
        'and raise memorySize if it ran out of memory.',
    });
    const [cause] = (await delayedCauses(key.namespace)) as [Cause];
    expect(cause).toMatchObject({ attempt: 4 });
    await run(recordOf(changeOf({ key, cause })));
    expect(runs).toBe(2);
  });

  it('without the delay queue, runs a change however often it is received', async () => {
    let runs = 0;
    const handler = async () => {
      runs++;
      return done;
    };
    const retryLater = () => Promise.reject(new RetryableError('SQS is away'));
    const { run } = setup(handler, 'managed-resources', { ...queues.sender, retryLater });
    expect(await run(recordOf(extensionChange('1'), { receiveCount: 9 }))).toEqual([]);
    expect(runs).toBe(1);
  });

  it.each<[string, Handler]>([
    ['a long back-off', () => Promise.reject(new RetryableError('still no answer'))],
    ['a requeue', async () => requeueAfter(3600)],
  ])('without the delay queue, %s blocks the group for a minute at most', async (_, handler) => {
    const retryLater = () => Promise.reject(new RetryableError('SQS is away'));
    const { run, hidden } = setup(handler, 'managed-resources', { ...queues.sender, retryLater });
    const cause = { type: 'notBefore', notBefore: '2026-01-02T03:04:05Z', attempt: 29 } as const;
    const record = recordOf(changeOf({ cause }));
    expect(await run(record)).toEqual([record.messageId]);
    expect(hidden.get(record.receiptHandle)).toBe(60);
  });

  it('sends the change to the dead-letter queue after a terminal error, with the reason and without a retry', async () => {
    const { run, sums } = setup(() => Promise.reject(new TerminalError('Extension a/b can never be')), 'terminal');
    expect(
      await run(
        recordOf(changeOf({ function: 'terminal' })),
        recordOf(changeOf({ function: 'terminal', cause: causeOf({ resourceVersion: '2' }) })),
      ),
    ).toEqual([]);
    const { ready } = await lookInto(queues.endpoint, 'shoot-flux-terminal-dead-letter.fifo');
    expect(ready.map(({ messageAttributes }) => messageAttributes.reason?.StringValue)).toEqual([
      'Extension a/b can never be (attempt 1)',
    ]);
    expect(ready.map(({ body }) => JSON.parse(body).cause.resourceVersion)).toEqual(['2']);
    expect(sums.get('terminal_total{function=terminal}')).toBe(1);
  });

  it('sends unreadable messages and those for other functions to the dead-letter queue, and runs the rest', async () => {
    const runs: string[] = [];
    const { run } = setup(async (key) => {
      runs.push(key.namespace);
      return done;
    }, 'unreadable');
    const failures = await run(
      recordOf(changeOf(), { body: 'token: hunter2' }),
      recordOf(changeOf({ function: 'readiness' })),
      recordOf(changeOf({ function: 'unreadable', key: keyOf(3) })),
    );
    expect(failures).toEqual([]);
    expect(runs).toEqual([keyOf(3).namespace]);
    const { ready } = await lookInto(queues.endpoint, 'shoot-flux-unreadable-dead-letter.fifo');
    expect(ready.map(({ messageAttributes }) => messageAttributes.reason?.StringValue)).toEqual([
      expect.stringContaining('is not JSON'),
      expect.stringContaining('is for function readiness'),
    ]);
  });

  it('requeues through the delay queue', async () => {
    const key = keyOf(91);
    const before = Date.now();
    const { run, lines } = setup(async () => requeueAfter(3600));
    expect(await run(recordOf(changeOf({ key })))).toEqual([]);
    const [cause] = await delayedCauses(key.namespace);
    expect(cause).toMatchObject({ type: 'notBefore' });
    // On the grid of its key.
    const due = Date.parse(cause?.notBefore ?? '');
    expect(due - before).toBeGreaterThanOrEqual(1_800_000);
    expect(due - Date.now()).toBeLessThanOrEqual(5_400_000);
    expect(lines).toContainEqual(expect.objectContaining({ outcome: 'requeue', afterSeconds: 3600 }));
  });

  it('aborts in time, and retries only the runs that did not end', async () => {
    const { lambda } = setup(async (key, { signal }) => {
      if (key.namespace === keyOf(21).namespace) return done;
      if (key.namespace === keyOf(22).namespace)
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new RetryableError('aborted'))));
      return new Promise(() => {});
    });
    const records = [21, 22, 23].map((n) => recordOf(extensionChange('1', n)));
    const response = await lambda(eventOf(...records), lambdaContext('managed-resources', 1.6));
    expect(response.batchItemFailures).toEqual([]);
    const retried = await Promise.all([21, 22, 23].map((n) => delayedCauses(keyOf(n).namespace)));
    expect(retried.map((causes) => causes.length)).toEqual([0, 1, 1]);
  });

  it.each([
    ['a change is as old as its message', causeOf({ resourceVersion: '1' }), 600],
    ['one that was to wait is not, before it is due', { type: 'notBefore', notBefore: '2026-01-02T03:09:00Z' }, 60],
  ] as const)('%s', async (_, cause, expected) => {
    const ages: number[] = [];
    const metrics = {
      ...noMetrics,
      observe: (name: string, value: number) => void (name === 'queue_age_seconds' && ages.push(value)),
    };
    const now = new Date('2026-01-02T03:10:00Z');
    const lambda = createSqsLambda(
      functionOf(async () => done),
      { ...processDependencies({ metrics, now: () => now }), sender: queues.sender, visibility: async () => {} },
    );
    const SentTimestamp = String(now.getTime() - 600_000);
    const attributes = { ...recordOf(changeOf()).attributes, SentTimestamp };
    await lambda(eventOf(recordOf(changeOf({ cause }), { attributes })), lambdaContext('managed-resources', 10));
    expect(ages).toEqual([expect.closeTo(expected, 0)]);
  });

  it('logs one line per run, with names and numbers but no secrets', async () => {
    const secret = '-----BEGIN OPENSSH PRIVATE KEY-----';
    const { run, lines, text } = setup(async ({ namespace }) => {
      if (namespace === keyOf(1).namespace) JSON.parse(secret);
      if (namespace === keyOf(2).namespace) throw Object.assign(new Error(`cannot use ${secret}`), { key: secret });
      if (namespace === keyOf(3).namespace) throw secret;
      return done;
    });
    await run(
      ...[1, 2, 3, 4].map((n) => recordOf(extensionChange('1', n))),
      recordOf(changeOf(), { body: `{"token":"${secret}"}` }),
    );
    expect(text()).not.toContain('PRIVATE');
    expect(lines.filter(({ message }) => message === 'reconcile finished')).toHaveLength(4);
    expect(lines.find(({ outcome }) => outcome === 'done')).toEqual({
      time: expect.any(String),
      level: 'info',
      message: 'reconcile finished',
      function: 'managed-resources',
      key: keyText(keyOf(4)),
      causes: 'Extension shoot--dev--apple/shoot-flux 1',
      outcome: 'done',
      durationMs: expect.any(Number),
      attempt: 1,
    });
  });
});

async function delayedCauses(namespace: string): Promise<{ type: string; notBefore: string; attempt?: number }[]> {
  const { delayed } = await lookInto(queues.endpoint, 'shoot-flux-delay');
  return delayed
    .map(({ body }) => JSON.parse(body))
    .filter(({ key }) => key.namespace === namespace)
    .map(({ cause }) => cause);
}
