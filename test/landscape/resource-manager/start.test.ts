import { afterAll, beforeAll, expect, it } from 'vitest';
import { type KubeObject, type Resource, resources } from '../client/client.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import type { Controller } from '../controllers/work-queue.ts';
import { eventually } from '../eventually.ts';
import { seedCrds } from '../seed/crds.ts';
import type { FullManagedResource } from './references.ts';
import { defaultTargetNamespaces, startResourceManager } from './start.ts';

/** Behaviour of the real one that the recording does not contain. */

const namespace = 'shoot--foo--bar';
const fieldManager = 'test';
const fruits: Resource = { group: 'example.org', version: 'v1', plural: 'fruits', kind: 'Fruit', namespaced: true };
let source: Cluster;
let target: Cluster;
let manager: Controller;

beforeAll(async () => {
  [source, target] = await Promise.all([startCluster(seedCrds()), startCluster([fruitCrd])]);
  for (const name of [namespace, 'apps']) await put(name === 'apps' ? target : source, namespaceObject(name));
  const connections = { source: source.connection, target: target.connection };
  manager = await startResourceManager({ ...connections, targetNamespaces: defaultTargetNamespaces, pendingMs: 50 });
});
afterAll(async () => {
  await manager.stop();
  await Promise.all([source.stop(), target.stop()]);
});

const fruitCrd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'fruits.example.org' },
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { kind: 'Fruit', plural: 'fruits', singular: 'fruit', listKind: 'FruitList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

const namespaceObject = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'kube-system' },
  data: { key: 'a' },
});

const put = ({ client }: Cluster, object: KubeObject) => {
  const resource = Object.values(resources).find(({ kind }) => kind === object.kind);
  if (resource === undefined) throw new Error(`no ${object.kind}`);
  return client.apply(resource, object, { fieldManager });
};

async function manage(name: string, object: KubeObject): Promise<void> {
  const data = { objects: Buffer.from(JSON.stringify(object)).toString('base64') };
  await put(source, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data });
  const spec = { secretRefs: [{ name }] };
  const apiVersion = 'resources.gardener.cloud/v1alpha1';
  await put(source, { apiVersion, kind: 'ManagedResource', metadata: { name, namespace }, spec });
}

const condition = async (name: string, type: string) => {
  const found = await source.client.find<FullManagedResource>(resources.managedResources, { namespace, name });
  return found?.status?.conditions?.find((entry) => entry.type === type);
};
const untilCondition = (name: string, type: string, reason: string) =>
  eventually(reason, async () => {
    const found = await condition(name, type);
    return found?.reason === reason && found;
  });
const inShoot = (name: string) => target.client.find(resources.configMaps, { namespace: 'kube-system', name });

it('applies a custom resource in another namespace, which never becomes healthy', async () => {
  const fruit = { apiVersion: 'example.org/v1', kind: 'Fruit', metadata: { name: 'plum', namespace: 'apps' } };
  await manage('fruit', fruit);
  await untilCondition('fruit', 'ResourcesApplied', 'ApplySucceeded');
  // Its health is checked before that of a later one.
  await manage('later', configMap('later'));
  await untilCondition('later', 'ResourcesHealthy', 'ResourcesHealthy');
  expect(await target.client.find(fruits, { namespace: 'apps', name: 'plum' })).toBeDefined();
  expect(await condition('fruit', 'ResourcesHealthy')).toMatchObject({ status: 'Unknown' });
});

it('recreates an object that is deleted in the shoot', async () => {
  await manage('drift', configMap('drift'));
  await untilCondition('drift', 'ResourcesHealthy', 'ResourcesHealthy');
  const before = await inShoot('drift');
  await target.client.delete(resources.configMaps, { namespace: 'kube-system', name: 'drift' });
  await eventually('the object', async () => {
    const live = await inShoot('drift');
    return live?.metadata.uid !== before?.metadata.uid && live;
  });
});
