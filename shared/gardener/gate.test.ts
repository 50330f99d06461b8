import { describe, expect, it } from 'vitest';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject, ObjectName, Resource } from '../kube/resource.ts';
import { gate, loadExtension } from './gate.ts';
import { clusterFactory, extensionFactory, lastOperationFactory, NAMESPACE } from './testing.ts';
import type { Extension } from './types.ts';

const annotated = (operation: string, parts: Partial<Extension['metadata']> = {}) => ({
  metadata: { ...parts, annotations: { 'gardener.cloud/operation': operation } },
});

const having = (parts: Parameters<typeof lastOperationFactory>[0] = {}) => ({
  status: { lastOperation: lastOperationFactory(parts) },
});

describe('gate', () => {
  it('trap 6: leaves an Extension alone that waits for its state', () => {
    expect(gate(extensionFactory(annotated('wait-for-state')), clusterFactory())).toMatchObject({ open: false });
  });

  it.each(['migrate', 'restore'])('trap 7: leaves the Extension of a Failed Shoot alone, also for %s', (operation) => {
    const failed = clusterFactory(having({ state: 'Failed' }));
    expect(gate(extensionFactory(annotated(operation)), failed)).toMatchObject({ open: false });
  });

  it.each([
    ['nothing', {}],
    ['a deletion', { metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } }],
    ['reconcile', annotated('reconcile')],
  ])('trap 7: after Migrate/Succeeded %s changes nothing', (_, parts) => {
    const migrated = having({ type: 'Migrate' });
    expect(gate(extensionFactory({ ...parts, ...migrated }), clusterFactory())).toMatchObject({ open: false });
  });

  it('opens after Migrate/Succeeded for a restore', () => {
    const migrated = having({ type: 'Migrate' });
    const extension = extensionFactory({ ...annotated('restore'), ...migrated });
    expect(gate(extension, clusterFactory())).toEqual({ open: true, operation: 'Restore' });
  });

  it.each(['garden', 'seed'])('trap 12: class %s is not ours', (extensionClass) => {
    const extension = extensionFactory({ spec: { type: 'shoot-flux', class: extensionClass } });
    expect(gate(extension, clusterFactory())).toMatchObject({ open: false });
  });

  it('leaves an Extension of another type alone', () => {
    expect(gate(extensionFactory({ spec: { type: 'shoot-dns' } }), clusterFactory())).toMatchObject({ open: false });
  });

  const deleting = { deletionTimestamp: '2026-01-02T03:04:05Z' };
  it.each<[string, Parameters<typeof extensionFactory>[0], string]>([
    ['trap 8: migrate beats a deletion', annotated('migrate', deleting), 'Migrate'],
    ['trap 8: restore does not', annotated('restore', deleting), 'Delete'],
    ['a new object is created', {}, 'Create'],
    ['an unfinished creation continues', having({ state: 'Error' }), 'Create'],
    ['an unfinished restore continues', having({ type: 'Restore', state: 'Processing' }), 'Restore'],
    ['an unfinished migration continues', having({ type: 'Migrate', state: 'Error' }), 'Migrate'],
    [
      'an unfinished operation of another kind is followed by reconciliations',
      having({ type: 'LiveMigrate', state: 'Error' }),
      'Reconcile',
    ],
    ['a finished creation is followed by reconciliations', having(), 'Reconcile'],
    ['so is a failed reconciliation', having({ type: 'Reconcile', state: 'Error' }), 'Reconcile'],
  ])('%s', (_, parts, operation) => {
    expect(
      gate(extensionFactory({ spec: { type: 'shoot-flux', class: 'shoot' }, ...parts }), clusterFactory()),
    ).toEqual({ open: true, operation });
  });
});

const key = { cluster: 'seed', namespace: NAMESPACE, name: 'shoot-flux' };

/** A seed with these objects, and the names of those that were asked for. */
function seedWith(...objects: KubeObject[]) {
  const asked: string[] = [];
  const find = (resource: Resource, { name }: ObjectName) => {
    asked.push(`${resource.kind} ${name}`);
    return Promise.resolve(objects.find((object) => object.kind === resource.kind && object.metadata.name === name));
  };
  return { asked, seed: { find } as unknown as KubeClient };
}

const failed = clusterFactory(having({ state: 'Failed' }));
const requests = ['Extension shoot-flux', `Cluster ${NAMESPACE}`];

it('returns the Extension with its Cluster and the operation', async () => {
  const [extension, cluster] = [extensionFactory(), clusterFactory()];
  const { asked, seed } = seedWith(extension, cluster);
  expect(await loadExtension(seed, key)).toEqual({ state: 'open', operation: 'Create', extension, cluster });
  expect(asked).toEqual(requests);
});

it.each([
  ['absent', [clusterFactory()], requests.slice(0, 1)],
  ['irrelevant', [extensionFactory({ spec: { type: 'other' } }), clusterFactory()], requests.slice(0, 1)],
  ['without Cluster', [extensionFactory()], requests],
  ['closed', [extensionFactory(), failed], requests],
])('is %s', async (state, objects, expected) => {
  const { asked, seed } = seedWith(...objects);
  expect(await loadExtension(seed, key)).toMatchObject({ state });
  expect(asked).toEqual(expected);
});

it('does not read the Cluster of an Extension that the function does not need', async () => {
  const { asked, seed } = seedWith(extensionFactory(), clusterFactory());
  expect(await loadExtension(seed, key, () => false)).toEqual({ state: 'irrelevant' });
  expect(asked).toEqual(requests.slice(0, 1));
});
