import { afterAll, beforeAll, expect, it } from 'vitest';
import { type KubeObject, type Resource, resources } from '../client/client.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import type { Controller } from '../controllers/work-queue.ts';
import { eventually } from '../eventually.ts';
import { generateKeyPair } from '../git/keys.ts';
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

/** What both controllers report of failures, prune, and leave alone. */

let cluster: Cluster;
let git: GitServer;
let repository: GitRepository;
let controllers: Controller[];

const apply = (resource: Resource, object: KubeObject) =>
  cluster.client.apply(resource, object, { fieldManager: 'test' });
const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  key: a\n`;

beforeAll(async () => {
  [cluster, git] = await Promise.all([startCluster(fluxCrds()), startGitServer()]);
  for (const name of [NAMESPACE, 'apps']) {
    await apply(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  repository = await git.createRepository('fleet', {
    'plain/one.yaml': configMap('one'),
    'plain/deep/two.yaml': configMap('two'),
    'gone/three.yaml': configMap('three'),
    'kept/six.yaml': configMap('six'),
  });
  controllers = [await startSourceController(cluster.connection), await startKustomizeController(cluster.connection)];
  await source('fleet', repository.httpUrl);
});
afterAll(async () => {
  for (const controller of controllers) await controller.stop();
  await Promise.all([cluster.stop(), git.stop()]);
});

const source = (name: string, url: string, spec?: object) =>
  apply(gitRepositories, gitRepositoryFactory(name, url, spec));
const kustomization = (name: string, spec: object) => apply(kustomizations, kustomizationFactory(name, spec));
const find = (resource: Resource, name: string) =>
  cluster.client.find<FluxObject>(resource, { namespace: NAMESPACE, name });
const readyOf = (object: FluxObject | undefined) => object?.status?.conditions?.find(({ type }) => type === 'Ready');
const until = (resource: Resource, name: string, reason: string) =>
  eventually(`${name}: ${reason}`, async () => {
    const object = await find(resource, name);
    return readyOf(object)?.reason === reason && object;
  });
const inApps = (name: string) => cluster.client.find(resources.configMaps, { namespace: 'apps', name });
const gone = (name: string) => eventually(`${name} gone`, async () => (await inApps(name)) === undefined);

it.each([
  ['no Secret', undefined, 'AuthenticationFailed', /secrets "x-no-secret" not found/],
  ['no known_hosts', (key: string) => ({ identity: key }), 'AuthenticationFailed', /'known_hosts' is required/],
  [
    'no deploy key',
    (key: string) => ({ identity: key, known_hosts: git.knownHosts }),
    'GitOperationFailed',
    /unable to authenticate/,
  ],
  [
    'another host key',
    (key: string) => ({ identity: key, known_hosts: git.knownHosts.replace(/ssh-ed25519 .*/, 'ssh-ed25519 AAAA') }),
    'GitOperationFailed',
    /knownhosts: key mismatch/,
  ],
] as const)('source-controller reports the failure: %s', async (title, data, reason, message) => {
  const name = `x-${title.replaceAll(/[ _]/g, '-').toLowerCase()}`;
  if (data !== undefined) {
    const metadata = { name, namespace: NAMESPACE };
    const stringData = data(generateKeyPair().privateKey);
    await apply(resources.secrets, { apiVersion: 'v1', kind: 'Secret', metadata, stringData });
  }
  await source(name, repository.sshUrl, { secretRef: { name } });
  const object = await until(gitRepositories, name, reason);
  expect(readyOf(object)?.message).toMatch(message);
  expect(object.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Reconciling', status: 'True', reason: 'ProgressingWithRetry' }),
  );
});

it('source-controller reports a missing branch, and follows a corrected one', async () => {
  await source('branch', repository.httpUrl, { ref: { branch: 'typo' } });
  const failed = await until(gitRepositories, 'branch', 'GitOperationFailed');
  expect(readyOf(failed)?.message).toContain('couldn\'t find remote ref "refs/heads/typo"');
  await source('branch', repository.httpUrl);
  await until(gitRepositories, 'branch', 'Succeeded');
});

it('source-controller ignores a suspended source until its deletion', async () => {
  await source('suspended', repository.httpUrl, { suspend: true });
  await source('deleted', repository.httpUrl);
  await until(gitRepositories, 'deleted', 'Succeeded');
  expect((await find(gitRepositories, 'suspended'))?.status?.conditions).toBeUndefined();
  await source('deleted', repository.httpUrl, { suspend: true });
  await cluster.client.delete(gitRepositories, { namespace: NAMESPACE, name: 'deleted' });
  await eventually('gone', async () => (await find(gitRepositories, 'deleted')) === undefined);
});

it('kustomize-controller applies the YAML of its path, and prunes removed objects', async () => {
  await kustomization('plain', { path: './plain', targetNamespace: 'apps' });
  const { status, metadata } = await until(kustomizations, 'plain', 'ReconciliationSucceeded');
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
  await repository.commit({ 'plain/deep/two.yaml': null }, 'two leaves');
  await gone('two');
  expect(await inApps('one')).toBeDefined();
});

it('kustomize-controller reports a missing path and a missing source', async () => {
  await kustomization('no-path', { path: './nowhere' });
  const noPath = await until(kustomizations, 'no-path', 'ArtifactFailed');
  expect(readyOf(noPath)?.message).toContain('kustomization path not found');
  await kustomization('no-source', { sourceRef: { kind: 'GitRepository', name: 'unknown' } });
  const noSource = await until(kustomizations, 'no-source', 'ArtifactFailed');
  expect(readyOf(noSource)?.message).toContain('"unknown" not found');
});

it('kustomize-controller prunes on deletion, except while it is suspended', async () => {
  await kustomization('gone', { path: './gone', targetNamespace: 'apps' });
  await kustomization('kept', { path: './kept', targetNamespace: 'apps' });
  for (const name of ['gone', 'kept']) await until(kustomizations, name, 'ReconciliationSucceeded');
  expect(await inApps('three')).toBeDefined();
  await kustomization('kept', { path: './kept', targetNamespace: 'apps', suspend: true });
  for (const name of ['kept', 'gone']) {
    await cluster.client.delete(kustomizations, { namespace: NAMESPACE, name });
    await eventually(`${name} gone`, async () => (await find(kustomizations, name)) === undefined);
  }
  await gone('three');
  expect(await inApps('six')).toBeDefined();
});
