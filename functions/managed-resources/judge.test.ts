import { describe, expect, it } from 'vitest';
import { conditionFactory, managedResourceFactory } from '../../shared/gardener/testing.ts';
import type { ManagedResource } from '../../shared/gardener/types.ts';
import { judge } from './judge.ts';

const now = new Date('2026-01-02T03:05:00Z');
const secondsAgo = (seconds: number) => `${new Date(now.getTime() - seconds * 1000).toISOString().slice(0, 19)}Z`;
const resource = (status?: ManagedResource['status']) =>
  managedResourceFactory('shoot-flux-crds', 's', status === undefined ? {} : { status });
const failing = (message: string, seconds: number) =>
  resource({
    observedGeneration: 2,
    conditions: [
      conditionFactory({ status: 'False', reason: 'ApplyFailed', message, lastTransitionTime: secondsAgo(seconds) }),
    ],
  });
const judged = (live: ManagedResource | undefined) =>
  judge(['shoot-flux-crds'], new Map(live === undefined ? [] : [['shoot-flux-crds', live]]), now);

describe('judge', () => {
  it('applied: the current generation, and ResourcesApplied True', () => {
    expect(judged(resource())).toEqual({ state: 'applied' });
  });

  it('pending: never a stale True', () => {
    expect(judged(resource({ observedGeneration: 1, conditions: [conditionFactory()] }))).toEqual({ state: 'pending' });
  });

  it('pending: not there yet, or nothing said yet', () => {
    expect(judged(undefined)).toEqual({ state: 'pending' });
    expect(judged(resource({}))).toEqual({ state: 'pending' });
  });

  it('a failed first pass is normal for 20 seconds, and is looked at again when they are over', () => {
    expect(judged(failing('namespaces "flux-system" not found', 5))).toEqual({
      state: 'pending',
      lookAgainInSeconds: 15,
    });
  });

  it('after that the resource-manager is quoted', () => {
    expect(judged(failing('no matches for kind', 20))).toEqual({
      state: 'failed',
      message: 'ManagedResource shoot-flux-crds cannot be applied to the shoot: no matches for kind',
    });
  });

  it('an old failure may be of the former content: a new attempt gets its time', () => {
    const live = new Map([['shoot-flux-crds', failing('no matches for kind', 300)]]);
    const began = now.getTime() - 4000;
    expect(judge(['shoot-flux-crds'], live, now, began)).toEqual({ state: 'pending', lookAgainInSeconds: 16 });
  });

  it('trap 22: names the remedy for a namespace that the resource-manager may not write into', () => {
    const message =
      'Could not apply all new resources: 1 error occurred: unable to get: flux-system/flux because of unknown namespace for the cache';
    expect(judged(failing(message, 60))).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('--extra-target-namespace=flux-system'),
    });
  });

  it('trap 29: an ignored ManagedResource counts as applied, it never advances', () => {
    const ignored = resource({ observedGeneration: 1 });
    ignored.metadata.annotations = { 'resources.gardener.cloud/ignore': 'true' };
    expect(judged(ignored)).toEqual({ state: 'applied' });
  });
});
