import { expect, it } from 'vitest';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject, ObjectName, Resource } from '../kube/resource.ts';
import { loadExtension } from './load-extension.ts';
import { clusterFactory, extensionFactory, lastOperationFactory, NAMESPACE } from './testing.ts';

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

const failed = clusterFactory({ status: { lastOperation: lastOperationFactory({ state: 'Failed' }) } });
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
