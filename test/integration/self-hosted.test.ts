import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import type { JsonObject } from '@shoot-flux/landscape/kube-api';
import { startNodes } from '@shoot-flux/landscape/nodes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterOptions } from '../../infra/cli/options.ts';
import { fromAllSources } from '../../infra/cli/sources.ts';
import { files, shootFlux } from '../../infra/cli/testing.ts';
import { serviceAccountUser } from '../../infra/gardener/rbac.ts';
import { ForbiddenError } from '../../shared/kube/errors.ts';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { startShippedApi, tokenOf } from '../scenarios/identities.ts';
import { deployedByFlux, expectFluxIsGone } from '../scenarios/removal.ts';
import {
  type Api,
  creating,
  eventually,
  inFlux,
  inProject,
  PROJECT,
  privateRepository,
  type Stage,
  startStage,
} from '../scenarios/stage.ts';
import { ownDistribution } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

/** What gardenlet sets in a self-hosted Shoot. */
const environment = { SHOOT_NAME: 'bar', SHOOT_NAMESPACE: PROJECT, GARDEN_KUBECONFIG: '/garden' };
const apiGroup = 'rbac.authorization.k8s.io';
const person = { fieldManager: 'person' };
const ours = { 'app.kubernetes.io/managed-by': 'gardener-extension-shoot-flux' };
const config = (repositoryBranch: string, more: Record<string, string> = {}) => ({
  ...{ ...privateRepository, repositoryBranch, syncMode: 'Reconcile' },
  ...more,
});

/** The rights that the chart adds there, because the cluster of the control plane is the shoot. */
const inOwnShoot: JsonObject[] = [
  {
    ...{ apiVersion: `${apiGroup}/v1`, kind: 'ClusterRoleBinding', metadata: { name: 'shoot-flux:shoot' } },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: ['managed-resources', 'push', 'readiness'].map((name) => ({
      ...{ kind: 'User', apiGroup },
      name: serviceAccountUser(name),
    })),
  },
];

const stack = new AsyncDisposableStack();
let stage: Stage;
let paths: { garden: string; own: string };
let gardenApi: Api;
/** What the membership of the account gives it. */
let bindings: KubeObject[];
const roleBindings = { ...resources.leases, group: apiGroup, plural: 'rolebindings', kind: 'RoleBinding' };

beforeAll(async () => {
  const garden = await startShippedApi('garden', 'extension-shoot--bar--shoot-flux');
  const own = await startShippedApi('seed', undefined, {
    namespaceController: true,
    objects: inOwnShoot,
  });
  gardenApi = garden;
  for (const api of [garden, own]) stack.defer(api.stop);
  const read = async () => ({});
  const { seed } = await fromAllSources(clusterOptions, { environment, read });
  const [cluster = ''] = String(seed).split('=');
  const withTokens = (api: Api): Api => ({ ...api, tokenOf });
  const apis = { garden: withTokens(garden), seed: withTokens(own), shoot: own, stop: async () => {} };
  stage = stack.use(await startStage(apis, ownDistribution, { controlPlane: 'kube-system', cluster }));
  ({ paths } = stack.use(await files({ garden: garden.kubeconfig(), own: own.kubeconfig() })));
  const { url, ca, token } = own;
  const nodes = await startNodes({ server: url, ca, token }, { programs: {} });
  stack.defer(nodes.stop);
  ({ items: bindings } = await stage.garden.list(roleBindings, { namespace: PROJECT }));
  for (const { metadata } of bindings) await stage.garden.delete(roleBindings, metadata);
  await stage.startProduct();
});
afterAll(() => stack.disposeAsync());

const keyIn = async (place: 'garden' | 'shoot') => {
  const name = place === 'garden' ? inProject('flux-source') : inFlux('flux-source');
  return ((await stage[place].find(resources.secrets, name))?.data ?? {}) as Record<string, string>;
};
const rotate = async (phase: 'start' | 'complete', isOver: (data: Record<string, string>) => boolean) => {
  await stage.annotateFluxConfig({ 'gardener.cloud/operation': `rotate-ssh-keypair-${phase}` });
  await eventually(`the rotation: ${phase}`, () => keyIn('garden'), isOver);
};
const statusMap = (namespace: string): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  metadata: { namespace, name: 'flux-status', labels: ours },
});
const untilReadyInStatus = () =>
  eventually(
    'the Shoot is Ready in flux-status',
    async () =>
      (
        await stage.garden.find<KubeObject & { data?: Record<string, string> }>(
          resources.configMaps,
          inProject('flux-status'),
        )
      )?.data?.bar,
    (line) => line?.startsWith('Ready ') === true,
  );

/** The life of one Shoot, in order: each test goes on where the one before has ended. */
describe('a Shoot that hosts its own control plane', () => {
  it('says what the garden refuses until its project has made its account a member', async () => {
    await stage.setFluxConfig(config('main'));
    await stage.reconcileShoot({ status: { lastOperation: creating } });
    await stage.untilError(
      `the right; add ServiceAccount ${PROJECT}/extension-shoot--bar--shoot-flux to its members, with the role extension:shoot-flux.`,
    );
    for (const { metadata, ...binding } of bindings)
      await stage.garden.create(roleBindings, { ...binding, metadata: inProject(metadata.name) }, person);
  });

  it('names the webhook that refuses flux-source, and gets Flux once a person has created it', async () => {
    const { description } = await stage.untilError('shoot-restriction.gardener.cloud denies it');
    expect(description).not.toContain('upgraded the shoot-flux chart');
    await stage.garden.create(
      resources.secrets,
      { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: inProject('flux-source') },
      person,
    );
    await stage.garden.create(resources.configMaps, statusMap(PROJECT), person);
    const { status } = await stage.untilReady();
    expect(status?.lastOperation).toMatchObject({ type: 'Create', state: 'Succeeded' });
    await stage.untilBranch('main');
    expect(await keyIn('shoot')).toEqual(await keyIn('garden'));
  });

  it('is read without a kubeconfig in the control plane, and becomes Ready', async () => {
    expect(await stage.seed.find(resources.secrets, { namespace: 'kube-system', name: 'gardener' })).toBeUndefined();
    await stage.bootstrap();
    await untilReadyInStatus();
  });

  it('follows an edit and a rotated key, and is not written again when it is reconciled', async () => {
    await stage.setFluxConfig(config('other'));
    await stage.untilBranch('other');
    await rotate('start', (data) => 'identity.next' in data);
    await rotate('complete', (data) => !('identity.next' in data));
    const { identity } = await keyIn('garden');
    await eventually(
      'the new key in the shoot',
      () => keyIn('shoot'),
      (data) => data.identity === identity,
    );
    await stage.deliver();
    await stage.quiet();
    const written = await stage.managedResources();
    await stage.deliver();
    expect(await stage.managedResources()).toEqual(written);
  });

  it('is shown as it is by status, explain and doctor', async () => {
    await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
    await untilReadyInStatus();
    const target = ['--kubeconfig', paths.garden, '--namespace', PROJECT];
    expect(await shootFlux(['status', ...target])).toMatchObject({ code: 0, err: '' });
    // It need not be the namespace of the control plane.
    const status = { technicalID: 'shoot--foo--bar' };
    await stage.garden.mergePatch(resources.shoots, inProject('bar'), { status }, person);
    const flags = ['--seed-kubeconfig', paths.own, '--shoot-kubeconfig', paths.own];
    const explained = await shootFlux(['explain', 'bar', ...target, ...flags, '-o', 'json']);
    const { links } = JSON.parse(explained.out) as { links: { name: string; mark: string; text: string }[] };
    expect(links.find(({ name }) => name === 'Delivery')).toMatchObject({
      mark: 'ok',
      text: '4 of 4 ManagedResources are applied',
    });
    const examined = await shootFlux([
      'doctor',
      '--garden',
      paths.garden,
      '--seed',
      `shoot--${PROJECT}--bar=${paths.own}`,
    ]);
    expect(examined.out).toContain(`✔ shoot--${PROJECT}--bar credentials: `);
  });

  it('opens no other project to those who administer it', async () => {
    const { url, ca } = gardenApi;
    const own = createKubeClient({ server: url, ca, token: tokenOf('keys') });
    const find = (namespace: string) => own.find(resources.secrets, { namespace, name: 'flux-source' });
    expect(await find(PROJECT)).toMatchObject({ type: 'Opaque' });
    await expect(find('garden-other')).rejects.toThrow(ForbiddenError);
    own.close();
  });

  it('keeps Flux while the operators name a pull secret that it may not read', async () => {
    await stage.setLandscape({ defaults: { pullSecret: {} } });
    const missing =
      "Secret garden/shoot-flux-pull-secret in the garden, the landscape's pull secret, may not be read; the operators of this landscape have to correct it.";
    await stage.until('the problem', ({ state }) => state?.applied?.problem === missing);
    await stage.setLandscape({});
    await stage.until('no problem', ({ state }) => state?.applied !== undefined && !('problem' in state.applied));
  });

  it('loses Flux with the extension and nothing else, and gets it again', async () => {
    await stage.untilReady();
    for (const [resource, object] of deployedByFlux) await stage.shoot.create(resource, object, person);
    await stage.leave();
    expect(await stage.managedResources()).toEqual({});
    await expectFluxIsGone(stage);
    const home = await stage.seed.find(resources.namespaces, { name: 'kube-system' });
    expect(home?.metadata.deletionTimestamp).toBeUndefined();
    await stage.deliver();
    await stage.untilBranch('other');
  });

  it('keeps Flux with the deletion policy Orphan, and is taken over again', async () => {
    await stage.setFluxConfig(config('other', { deletionPolicy: 'Orphan' }));
    await stage.deliver();
    const uid = async () => (await stage.inShoot(gitRepositories, 'main-gitrepo'))?.metadata.uid;
    const before = await uid();
    await stage.leave();
    expect(await uid()).toBe(before);
    await stage.deliver();
    await stage.untilManagedResources(
      'shoot-flux-controllers',
      'shoot-flux-crds',
      'shoot-flux-secrets',
      'shoot-flux-sync',
    );
    expect(await uid()).toBe(before);
  });
});
