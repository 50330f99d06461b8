import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';
import { openQueues, type Queues, startLambdas } from '../../test/sqs.ts';
import {
  causeOf,
  changeOf,
  definitionOf,
  functionOf,
  keptLog,
  keyOf,
  lookInto,
  processDependencies,
} from '../testing.ts';

const names = ['keys', 'managed-resources', 'sender', 'receiver'];
let queues: Queues;
beforeAll(async () => {
  queues = await openQueues(names.map((name) => definitionOf(name)));
});
afterAll(() => queues.stop());

const soon = { timeout: 240_000, interval: 20 };

describe('Lambdas behind queues', () => {
  it('get two edits of a ConfigMap, a requeue and a redrive within minutes', async () => {
    const key = { cluster: GARDEN, namespace: 'garden-dev', name: 'flux-config' };
    const edit = (resourceVersion: string): ChangeRequest =>
      changeOf({ function: 'keys', key, cause: causeOf({ cluster: GARDEN, kind: 'ConfigMap', resourceVersion }) });
    const arrived: Cause[] = [];
    const keys = functionOf(async (_, { causes }) => {
      arrived.push(...causes);
      return arrived.length === 2 ? requeueAfter(1) : done;
    }, 'keys');
    const running = await startLambdas(queues, [keys], () => processDependencies());
    await queues.sender.send([edit('100')]);
    await vi.waitFor(() => expect(arrived).toHaveLength(1), soon);
    // The same change again, as another watcher would send it: the queue drops it.
    await queues.sender.send([edit('100'), edit('101')]);
    await vi.waitFor(() => expect(arrived).toHaveLength(3), soon);
    await queues.sender.send([changeOf({ function: 'keys', key, cause: { type: 'redrive', nonce: 'n1' } })]);
    await vi.waitFor(() => expect(arrived).toHaveLength(4), soon);
    await running.stop();
    expect(arrived.map((cause) => ('resourceVersion' in cause ? cause.resourceVersion : cause.type))).toEqual([
      '100',
      '101',
      'notBefore',
      'redrive',
    ]);
  });

  it('run once at a time for an Extension and its four ManagedResources that change at once', async () => {
    let active = 0;
    let most = 0;
    const seen: string[] = [];
    const managedResources = functionOf(async (_, { causes }) => {
      active++;
      most = Math.max(most, active);
      seen.push(...causes.map((cause) => ('kind' in cause ? cause.name : '')));
      await sleep(30);
      active--;
      return done;
    });
    const running = await startLambdas(queues, [managedResources], () => processDependencies());
    const objects = ['crds', 'controllers', 'secrets', 'sync'].map((part) => ({
      kind: 'ManagedResource',
      name: `shoot-flux-${part}`,
    }));
    const causes = [{ kind: 'Extension', name: 'shoot-flux' }, ...objects].map((object, index) =>
      causeOf({ ...object, uid: `u${index}` }),
    );
    await Promise.all(causes.map((cause) => queues.sender.send([changeOf({ key: keyOf(1), cause })])));
    await vi.waitFor(() => expect(seen).toHaveLength(5), soon);
    await running.stop();
    expect(most).toBe(1);
    expect(new Set(seen)).toHaveLength(5);
  });

  it('run once for all changes of a key that wait', async () => {
    const runs: string[][] = [];
    const receiver = functionOf(async (_, { causes }) => {
      runs.push(causes.map((cause) => ('resourceVersion' in cause ? cause.resourceVersion : '')));
      return done;
    }, 'receiver');
    const change = (resourceVersion: string) =>
      changeOf({ function: 'receiver', key: keyOf(2), cause: causeOf({ resourceVersion }) });
    await queues.sender.send(['1', '2', '3'].map(change));
    const running = await startLambdas(queues, [receiver], () => processDependencies());
    await vi.waitFor(() => expect(runs.flat()).toHaveLength(3), soon);
    await running.stop();
    expect(runs).toEqual([['1', '2', '3']]);
  });

  it('delay a change for longer than SQS allows, in several hops', async () => {
    const due = Date.now() + 3_600_000;
    const cause: Cause = { type: 'notBefore', notBefore: new Date(due).toISOString() };
    const { log, lines } = keptLog();
    const running = await startLambdas(queues, [], () => processDependencies({ log }));
    await queues.sender.retryLater(changeOf({ function: 'receiver', key: keyOf(7), cause }), 0);
    await vi.waitFor(
      () => expect(lines).toContainEqual(expect.objectContaining({ outcome: 'requeue', for: 'receiver' })),
      soon,
    );
    await running.stop();
    const { delayed } = await lookInto(queues.endpoint, 'shoot-flux-delay');
    const hop = delayed.find(({ body }) => body.includes(keyOf(7).namespace));
    expect(JSON.parse(hop?.body ?? '{}').cause).toEqual(cause);
    expect(((hop?.delayUntil ?? 0) - (hop?.sentTimestamp ?? 0)) / 1000).toBe(900);
  });
});
