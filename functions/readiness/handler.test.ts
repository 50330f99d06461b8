import { expect, it } from 'vitest';
import { keptLog } from '../../events/testing.ts';
import { managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import {
  appliedFactory,
  clusterFactory,
  extensionFactory,
  lastOperationFactory,
  managedResourceFactory,
  NAMESPACE,
} from '../../shared/gardener/testing.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Resource } from '../../shared/kube/resource.ts';
import type { Context } from '../../shared/runtime/context.ts';
import { handler } from './handler.ts';

it('after a run that was ended it says why, and fails, so that the next looks become rarer', async () => {
  const name = managedResourceNames.controllers;
  const applied = appliedFactory({ managedResources: { [name]: 'content' } });
  const lastOperation = lastOperationFactory();
  const patches: unknown[] = [];
  const seed = {
    find: async ({ kind }: Resource) =>
      kind === 'Cluster' ? clusterFactory() : extensionFactory({ status: { lastOperation, state: { applied } } }),
    list: async () => ({ items: [managedResourceFactory(name, 'content')], resourceVersion: '1' }),
    mergePatch: async (_: Resource, __: object, patch: unknown) => patches.push(patch),
  } as unknown as KubeClient;
  const context = {
    kube: async () => seed,
    settings: {},
    now: () => new Date(lastOperation.lastUpdateTime),
    log: keptLog().log,
    endedBefore: 'needed more than 128 MB of memory',
  } as unknown as Context;
  const run = handler({ cluster: 'local', namespace: NAMESPACE, name: 'shoot-flux' }, context);
  await expect(run).rejects.toThrow(/^Reading the objects of Flux in the shoot needed more than 128 MB of memory/);
  expect(patches).toEqual([
    expect.objectContaining({
      status: expect.objectContaining({ conditions: [expect.objectContaining({ reason: 'ObservationEnded' })] }),
    }),
  ]);
});
