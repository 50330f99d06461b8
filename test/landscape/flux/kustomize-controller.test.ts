import { afterAll, beforeAll, expect, it } from 'vitest';
import { resources } from '../client/client.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import type { Controller } from '../controllers/controller.ts';
import { eventually } from '../eventually.ts';
import { type GitRepository, type GitServer, startGitServer } from '../git/server.ts';
import { startKustomizeController } from './kustomize-controller.ts';
import {
  fluxCrds,
  gitRepositories,
  gitRepositoryFactory,
  kustomizationFactory,
  kustomizations,
  NAMESPACE,
} from './objects.ts';
import { startSourceController } from './source-controller.ts';
import type { FluxObject } from './status.ts';

let cluster: Cluster;
let git: GitServer;
let repository: GitRepository;
let controllers: Controller[];
const fieldManager = 'test';

const configMap = (name: string, value = 'a') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  key: ${value}\n`;

const variable = (name: string) => `$\{${name}}`;

beforeAll(async () => {
  [cluster, git] = await Promise.all([startCluster(fluxCrds()), startGitServer()]);
  for (const name of [NAMESPACE, 'apps']) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await cluster.client.apply(resources.namespaces, namespace, { fieldManager });
  }
  repository = await git.createRepository('fleet', {
    'plain/one.yaml': configMap('one'),
    'plain/deep/two.yaml': configMap('two'),
    'listed/kustomization.yaml': 'resources: [three.yaml]\n',
    'listed/three.yaml': configMap('three'),
    'listed/other.yaml': configMap('not-listed'),
    'variables/four.yaml': configMap('four', `${variable('name')}-${variable('other:=default')}`),
    'strict/five.yaml': configMap('five', variable('unknown')),
    'kept/six.yaml': configMap('six'),
  });
  controllers = [await startSourceController(cluster.connection), await startKustomizeController(cluster.connection)];
  await cluster.client.apply(gitRepositories, gitRepositoryFactory('fleet', repository.httpUrl), { fieldManager });
});
afterAll(async () => {
  for (const controller of controllers) await controller.stop();
  await Promise.all([cluster.stop(), git.stop()]);
});

const apply = (name: string, spec: object) =>
  cluster.client.apply(kustomizations, kustomizationFactory(name, spec), { fieldManager });
const find = (name: string) => cluster.client.find<FluxObject>(kustomizations, { namespace: NAMESPACE, name });
const readyOf = (object: FluxObject | undefined) => object?.status?.conditions?.find(({ type }) => type === 'Ready');
const until = (name: string, reason: string) =>
  eventually(`${name}: ${reason}`, async () => {
    const object = await find(name);
    return readyOf(object)?.reason === reason && object;
  });
const inApps = (name: string) => cluster.client.find(resources.configMaps, { namespace: 'apps', name });
const gone = (name: string) => eventually(`${name} gone`, async () => (await inApps(name)) === undefined);

it('applies the YAML of its path into the target namespace, and prunes removed objects', async () => {
  await apply('plain', { path: './plain', targetNamespace: 'apps' });
  const { status, metadata } = await until('plain', 'ReconciliationSucceeded');
  expect(metadata.finalizers).toEqual(['finalizers.fluxcd.io']);
  expect(status).toMatchObject({
    observedGeneration: metadata.generation,
    lastAppliedRevision: expect.stringMatching(/^main@sha1:/),
    inventory: {
      entries: [
        { id: 'apps_one__ConfigMap', v: 'v1' },
        { id: 'apps_two__ConfigMap', v: 'v1' },
      ],
    },
  });
  expect((await inApps('one'))?.metadata.labels).toMatchObject({ 'kustomize.toolkit.fluxcd.io/name': 'plain' });

  await repository.commit({ 'plain/deep/two.yaml': null }, 'two leaves');
  await gone('two');
  expect(await inApps('one')).toBeDefined();
});

it('applies only what a kustomization.yaml lists', async () => {
  await apply('listed', { path: './listed', targetNamespace: 'apps' });
  await until('listed', 'ReconciliationSucceeded');
  expect(await inApps('three')).toBeDefined();
  expect(await inApps('not-listed')).toBeUndefined();
});

it('substitutes variables, and fails for unknown ones', async () => {
  await apply('variables', {
    path: './variables',
    targetNamespace: 'apps',
    postBuild: { substitute: { name: 'spring' } },
  });
  await until('variables', 'ReconciliationSucceeded');
  expect(await inApps('four')).toMatchObject({ data: { key: 'spring-default' } });
  await apply('strict', { path: './strict', postBuild: { substitute: {} } });
  expect(readyOf(await until('strict', 'BuildFailed'))?.message).toContain('variable not set (strict mode): "unknown"');
});

it('reports a missing path and a missing source', async () => {
  await apply('no-path', { path: './nowhere' });
  expect(readyOf(await until('no-path', 'ArtifactFailed'))?.message).toContain('kustomization path not found');
  await apply('no-source', { sourceRef: { kind: 'GitRepository', name: 'unknown' } });
  expect(readyOf(await until('no-source', 'ArtifactFailed'))?.message).toContain('"unknown" not found');
});

it('prunes on deletion, except while it is suspended', async () => {
  await apply('kept', { path: './kept', targetNamespace: 'apps' });
  await until('kept', 'ReconciliationSucceeded');
  await apply('kept', { path: './kept', targetNamespace: 'apps', suspend: true });
  for (const name of ['kept', 'listed']) await cluster.client.delete(kustomizations, { namespace: NAMESPACE, name });
  await gone('three');
  await eventually('both gone', async () => (await find('kept')) === undefined && (await find('listed')) === undefined);
  expect(await inApps('six')).toBeDefined();
});
