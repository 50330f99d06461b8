import { type Landscape, startLandscape } from '@shoot-flux/landscape';
import type { Cluster } from '@shoot-flux/landscape/cluster';
import { eventually } from '@shoot-flux/landscape/eventually';
import { gitRepositories } from '@shoot-flux/landscape/flux/objects';
import { type GitRepository, type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Product, startProduct } from '../../infra/process/product.ts';
import type { Extension } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { settingsOf } from '../scenarios/context.ts';
import { inControlPlane, inFlux, inProject, publicRepository } from '../scenarios/stage.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

/** The product in the landscape: gardenlet, Git and the project cause all changes. */

const shoot = { namespace: 'garden-foo', name: 'bar' };
const technicalId = 'shoot--foo--bar';
let landscape: Landscape;
let git: GitServer;
let repository: GitRepository;
let product: Product;

const configMap = (value: string, namespace = 'default') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fleet\n  namespace: ${namespace}\ndata:\n  key: ${value}\n`;

beforeEach(async () => {
  [landscape, git] = await Promise.all([startLandscape({ pendingMs: 100 }), startGitServer()]);
  repository = await git.createRepository('fleet', { 'fleet.yaml': configMap('first') });
  const clusters: Record<string, Cluster> = { garden: landscape.garden, local: landscape.seed };
  product = await startProduct({
    credentials: () => async (name) => clusters[name]?.connection ?? { server: `https://${name}.invalid` },
    settings: settingsOf({ hostKeyScan: { mode: 'on', allow: ['127.0.0.0/8'], deny: [] } }),
    log: createLog('error'),
  });
  await landscape.createProject('foo');
  await configure({});
  await landscape.createShoot(shoot.namespace, shoot.name);
  await landscape.seed.gardenlet.reconcile(shoot);
});
afterEach(async () => {
  await product?.stop();
  await landscape?.stop();
  await git?.stop();
});

const configure = (more: Record<string, string>) => {
  const data = { ...publicRepository, repositoryUrl: repository.httpUrl, repositoryInterval: '1s', ...more };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: inProject('flux-config'), data };
  return landscape.garden.client.apply(resources.configMaps, object, { fieldManager: 'project' });
};
const change = (spec: object) =>
  landscape.garden.client.mergePatch(resources.shoots, shoot, { spec }, { fieldManager: 'project' });
const shootOf = (id: string) => {
  const cluster = landscape.shoot(id);
  if (cluster === undefined) throw new Error('the shoot has no API server');
  return cluster;
};
const inShoot = (id = technicalId) => shootOf(id).client;
const fleet = (id = technicalId) => inShoot(id).find(resources.configMaps, { namespace: 'default', name: 'fleet' });
const untilFleet = (value: string, id = technicalId) =>
  eventually(`fleet is ${value}`, async () => ((await fleet(id))?.data as { key?: string } | undefined)?.key === value);

it('delivers a commit to the shoot, also after hibernation with a changed branch', async () => {
  await untilFleet('first');
  await repository.commit({ 'fleet.yaml': configMap('second') }, 'second');
  await untilFleet('second');

  await configure({ syncMode: 'Reconcile' });
  await change({ hibernation: { enabled: true } });
  await landscape.seed.gardenlet.reconcile(shoot);
  await repository.commit({ 'fleet.yaml': configMap('other') }, 'other', 'other');
  await configure({ syncMode: 'Reconcile', repositoryBranch: 'other' });
  await change({ hibernation: { enabled: false } });
  await landscape.seed.gardenlet.reconcile(shoot);
  await untilFleet('other');
});

it('leaves each object of a repository in its own namespace, also where that has several', async () => {
  const names = ['flux-system', 'one', 'two'];
  const namespace = (name: string) => `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`;
  const files = names.map((name) => [`${name}.yaml`, `${namespace(name)}---\n${configMap(name, name)}`]);
  await repository.commit(Object.fromEntries(files), 'namespaces');
  for (const name of names) {
    const place = { namespace: name, name: 'fleet' };
    await eventually(`fleet in ${name}`, () => inShoot().find(resources.configMaps, place));
  }
  const own = await inShoot().find(resources.namespaces, { name: 'default' });
  expect(own?.metadata.labels).not.toHaveProperty('kustomize.toolkit.fluxcd.io/name');
});

const extension = () => landscape.seed.client.find<Extension>(resources.extensions, inControlPlane('shoot-flux'));

it('reports a typo in the configuration with its remedy, and recovers once it is corrected', async () => {
  await configure({ repositoryBranch: 'mian', syncMode: 'Reconcile' });
  const source = (status: string) =>
    eventually(`SourceReady is ${status}`, async () =>
      (await extension())?.status?.conditions?.find((one) => one.type === 'SourceReady' && one.status === status),
    );
  const lastError = async () => {
    const { reason, message, codes } = await source('False');
    return reason === 'RevisionNotFound' ? { message, codes } : false;
  };
  expect(await eventually('the typo is reported', lastError)).toEqual({
    message: expect.stringContaining(
      'has no branch mian; push it, or correct repositoryBranch in ConfigMap flux-config',
    ),
    codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
  });
  expect((await extension())?.status?.lastError ?? null).toBeNull();
  await configure({ syncMode: 'Reconcile' });
  await untilFleet('first');
  await source('True');
  expect((await extension())?.status?.providerStatus).toMatchObject({
    ...{ fluxVersion: 'v2.9.99', syncMode: 'Reconcile' },
    flux: { ready: true, appliedRevision: expect.stringMatching(/^main@sha1:/) },
  });
});

it('lets a Shoot with Flux be deleted', async () => {
  await untilFleet('first');
  await landscape.seed.gardenlet.delete(shoot);
  expect(await landscape.garden.client.find(resources.shoots, shoot)).toBeUndefined();
  expect((await landscape.seed.client.list(resources.managedResources)).items).toEqual([]);
});

it('lets a hibernated Shoot be deleted, although no controller handles the finalizers of Flux', async () => {
  await configure({ syncMode: 'Reconcile' });
  await landscape.seed.gardenlet.reconcile(shoot);
  await untilFleet('first');
  await change({ hibernation: { enabled: true } });
  await landscape.seed.gardenlet.reconcile(shoot);
  await landscape.seed.gardenlet.delete(shoot);
  expect(await landscape.garden.client.find(resources.shoots, shoot)).toBeUndefined();
  expect((await landscape.seed.client.list(resources.managedResources)).items).toEqual([]);
});

it('delivers a rotated key to every Shoot on completion, so that the old deploy key can be removed', async () => {
  const other = { ...shoot, name: 'baz' };
  const ids = [technicalId, 'shoot--foo--baz'];
  await landscape.createShoot(other.namespace, other.name);
  await landscape.seed.gardenlet.reconcile(other);
  const untilAll = async (value: string) => {
    await repository.commit({ 'fleet.yaml': configMap(value) }, value);
    await Promise.all(ids.map((id) => untilFleet(value, id)));
  };
  const source = inProject('flux-source');
  const annotation = (name: string) =>
    eventually(name, async () => {
      const secret = await landscape.garden.client.find(resources.secrets, source);
      return secret?.metadata.annotations?.[`flux.extensions.gardener.cloud/${name}`];
    });
  const rotate = (phase: 'start' | 'complete') =>
    landscape.garden.client.mergePatch(
      resources.configMaps,
      inProject('flux-config'),
      { metadata: { annotations: { 'gardener.cloud/operation': `rotate-ssh-keypair-${phase}` } } },
      { fieldManager: 'project' },
    );
  const arrived = new Set<string>();
  for (const id of ids) {
    shootOf(id).api.objects.onChange('v1', 'Secret', ({ object }) => {
      for (const name of Object.keys((object.data ?? {}) as object)) arrived.add(name);
    });
  }

  await configure({
    repositoryUrl: repository.sshUrl,
    repositoryType: 'private',
    knownHosts: 'scan',
    syncMode: 'Reconcile',
  });
  const [oldLine, oldMark] = [await annotation('public-key'), await annotation('fingerprint')];
  git.addDeployKey('fleet', oldLine);
  const readsOverSsh = async (id: string) => {
    const source = await inShoot(id).find(gitRepositories, inFlux('main-gitrepo'));
    return (source?.spec as { url?: string } | undefined)?.url === repository.sshUrl;
  };
  // Before the commit, which a shoot could otherwise still fetch over HTTP.
  await Promise.all(ids.map((id) => eventually('the source is read over SSH', () => readsOverSsh(id))));
  await untilAll('over ssh');

  git.accesses.length = 0;
  await rotate('start');
  const [newLine, newMark] = [await annotation('next-public-key'), await annotation('next-fingerprint')];
  git.addDeployKey('fleet', newLine);
  await untilAll('overlap');
  expect(new Set(git.accesses.map(({ who }) => who))).toEqual(new Set([oldMark]));

  await rotate('complete');
  expect(await annotation('former-fingerprint')).toBe(oldMark);
  const untilNew = (id: string) =>
    eventually('the new key', async () => {
      const secret = await inShoot(id).find(resources.secrets, inFlux('flux-source'));
      const { 'identity.pub': line = '' } = (secret?.data ?? {}) as Record<string, string>;
      return Buffer.from(line, 'base64').toString('utf8').trim() === newLine;
    });
  await Promise.all(ids.map(untilNew));
  git.removeDeployKey('fleet', oldLine);
  git.accesses.length = 0;
  await untilAll('new key');
  expect(git.accesses.filter(({ allowed }) => allowed).map(({ who }) => who)).toContain(newMark);
  expect([...arrived].sort()).toEqual(expect.arrayContaining(['identity', 'identity.pub', 'known_hosts']));
  expect([...arrived].filter((name) => name.includes('next'))).toEqual([]);
});
