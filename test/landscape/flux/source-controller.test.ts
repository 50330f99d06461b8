import { afterAll, beforeAll, expect, it } from 'vitest';
import { resources } from '../client/client.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import type { Controller } from '../controllers/controller.ts';
import { eventually } from '../eventually.ts';
import { generateKeyPair, publicLine } from '../git/keys.ts';
import { type GitRepository, type GitServer, startGitServer } from '../git/server.ts';
import { fluxCrds, gitRepositories, gitRepositoryFactory, NAMESPACE } from './objects.ts';
import { startSourceController } from './source-controller.ts';
import type { FluxObject } from './status.ts';

let cluster: Cluster;
let git: GitServer;
let repository: GitRepository;
let controller: Controller;
const credentials = { username: 'reader', password: 'let-me-in' };
const fieldManager = 'test';

beforeAll(async () => {
  [cluster, git] = await Promise.all([startCluster(fluxCrds()), startGitServer()]);
  await cluster.client.apply(
    resources.namespaces,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { fieldManager },
  );
  repository = await git.createRepository('fleet', { 'a.yaml': 'kind: A\n' });
  controller = await startSourceController(cluster.connection);
});
afterAll(async () => {
  await controller.stop();
  await Promise.all([cluster.stop(), git.stop()]);
});

const secret = (name: string, data: Record<string, string>) =>
  cluster.client.apply(
    resources.secrets,
    { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: NAMESPACE }, stringData: data },
    { fieldManager },
  );
const create = (name: string, url: string, spec?: object) =>
  cluster.client.apply(gitRepositories, gitRepositoryFactory(name, url, spec), { fieldManager });
const find = (name: string) => cluster.client.find<FluxObject>(gitRepositories, { namespace: NAMESPACE, name });
const readyOf = (object: FluxObject | undefined) => object?.status?.conditions?.find(({ type }) => type === 'Ready');
const until = (name: string, status: 'True' | 'False') =>
  eventually(`${name} Ready=${status}`, async () => {
    const object = await find(name);
    return readyOf(object)?.status === status && object;
  });

interface Artifact {
  url: string;
  revision: string;
  digest: string;
}

it('clones, serves the artifact, and follows commits', async () => {
  await create('public', repository.httpUrl);
  const { status, metadata } = await until('public', 'True');
  const artifact = status?.artifact as Artifact;
  expect(metadata.finalizers).toEqual(['finalizers.fluxcd.io']);
  expect(status?.observedGeneration).toBe(metadata.generation);
  expect(artifact.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect((await fetch(artifact.url)).status).toBe(200);

  const commit = await repository.commit({ 'b.yaml': 'kind: B\n' }, 'second');
  await eventually('the commit', async () => {
    const artifact = (await find('public'))?.status?.artifact as Artifact | undefined;
    return artifact?.revision === `main@sha1:${commit}`;
  });
});

it.each(['ed25519', 'rsa'] as const)('clones over SSH with a deploy key of type %s', async (type) => {
  const { privateKey: identity, publicKey } = generateKeyPair(type);
  git.addDeployKey(repository.name, publicLine(publicKey));
  await secret(`ssh-${type}`, { identity, known_hosts: git.knownHosts });
  await create(`ssh-${type}`, repository.sshUrl, { secretRef: { name: `ssh-${type}` } });
  await until(`ssh-${type}`, 'True');
});

it('clones with user name and password', async () => {
  const closed = await git.createRepository('closed', { 'a.yaml': 'kind: A\n' }, { credentials });
  await secret('basic', credentials);
  await create('basic', closed.httpUrl, { secretRef: { name: 'basic' } });
  await until('basic', 'True');
  await create('no-credentials', closed.httpUrl);
  expect(readyOf(await until('no-credentials', 'False'))).toMatchObject({
    reason: 'GitOperationFailed',
    message: expect.stringContaining('authentication required'),
  });
});

it.each([
  [
    'no Secret',
    undefined,
    'AuthenticationFailed',
    /failed to get secret 'flux-system\/x-no-secret': secrets "x-no-secret" not found/,
  ],
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
] as const)('reports the failure: %s', async (title, data, reason, message) => {
  const name = `x-${title.replaceAll(/[ _]/g, '-').toLowerCase()}`;
  if (data !== undefined) await secret(name, data(generateKeyPair().privateKey));
  await create(name, repository.sshUrl, { secretRef: { name } });
  const object = await until(name, 'False');
  expect(readyOf(object)).toMatchObject({ reason, message: expect.stringMatching(message) });
  expect(object.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Reconciling', status: 'True', reason: 'ProgressingWithRetry' }),
  );
});

it('reports a missing branch, and follows a corrected one', async () => {
  await create('branch', repository.httpUrl, { ref: { branch: 'typo' } });
  expect(readyOf(await until('branch', 'False'))?.message).toContain('couldn\'t find remote ref "refs/heads/typo"');
  await create('branch', repository.httpUrl);
  await until('branch', 'True');
});

it('ignores a suspended source until its deletion', async () => {
  await create('suspended', repository.httpUrl, { suspend: true });
  await create('deleted', repository.httpUrl);
  await until('deleted', 'True');
  expect((await find('suspended'))?.status?.conditions).toBeUndefined();
  await create('deleted', repository.httpUrl, { suspend: true });
  await cluster.client.delete(gitRepositories, { namespace: NAMESPACE, name: 'deleted' });
  await eventually('gone', async () => (await find('deleted')) === undefined);
});
