import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect, it } from 'vitest';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { textAt } from '../../shared/shapes.ts';
import { secretWith } from '../shoot-secrets.ts';
import { stageSuite } from './around-each-test.ts';
import {
  base64,
  CONTROL_PLANE,
  creating,
  eventually,
  inControlPlane,
  inFlux,
  inProject,
  onlyFlux,
  privateRepository,
  publicRepository,
  reference,
  SEED,
  smallDeployment,
} from './stage.ts';
import { both, resumed, suspended, untilSuspended, who } from './suspension.ts';

const all = ['shoot-flux-controllers', 'shoot-flux-crds', 'shoot-flux-secrets', 'shoot-flux-sync'];
const statusMap = inProject('flux-status');
const source = inProject('flux-source');
const former = { fieldManager: 'former' };

/** The main job, on embedded or real API servers. */
export const mainJobSuite = stageSuite((stage) => {
  const names = async () => Object.keys(await stage.managedResources()).sort();
  const edit = (data: Record<string, string> = {}) => stage.setFluxConfig({ ...publicRepository, ...data });
  /** The Shoot comes up with this configuration, and Flux works. */
  const live = async (data: Record<string, string> = {}) => {
    await edit(data);
    await stage.deliver();
    return stage.bootstrap();
  };
  const untilPath = (path: string) =>
    stage.untilInShoot(
      kustomizations,
      'main-ks',
      (object) => (object?.spec as { path?: string } | undefined)?.path === path,
    );

  const untilPushReachesFlux = async () => {
    const push = inProject('flux-push');
    // Where it cannot be created, a person creates it empty.
    await stage.putSecret('garden', push, {});
    await edit({ push: 'true' });
    const read = () => stage.garden.find<KubeObject & { data?: object }>(resources.secrets, push);
    await eventually('the token', read, (secret) => secret?.data !== undefined && 'token' in secret.data);
    // As push-webhook does.
    const annotations = { 'flux.extensions.gardener.cloud/pushed': `${new Date().toISOString()} *` };
    await stage.garden.mergePatch(resources.secrets, push, { metadata: { annotations } }, former);
    const requested = 'reconcile.fluxcd.io/requestedAt';
    await stage.untilInShoot(
      gitRepositories,
      'main-gitrepo',
      (object) => object?.metadata.annotations?.[requested] !== undefined,
    );
  };

  it('brings Flux and the repository into a new Shoot', async () => {
    await edit();
    const extension = await stage.deliver({ status: { lastOperation: creating } });
    expect(extension.metadata.finalizers).toEqual(['extensions.gardener.cloud/shoot-flux']);
    expect(extension.status?.lastOperation).toMatchObject({ type: 'Create', progress: 100 });
    expect(await names()).toEqual(all);
    expect(await stage.specInShoot(gitRepositories, 'main-gitrepo')).toMatchObject({
      ...{ url: 'https://git.example.com/fleet', interval: '30s', ref: { branch: 'main' } },
    });
    expect(await stage.specInShoot(kustomizations, 'main-ks')).toMatchObject({
      ...{ interval: '5m', path: './', prune: true },
      sourceRef: { kind: 'GitRepository', name: 'main-gitrepo' },
    });
    expect(await stage.inShoot(resources.deployments, 'source-controller')).toBeDefined();
    expect((await stage.inShoot(resources.configMaps, 'shoot-info'))?.data).toMatchObject({
      SHOOT_INFO_NAME: 'bar',
      SHOOT_INFO_TECHNICAL_ID: CONTROL_PLANE,
      SHOOT_INFO_GARDEN_CLUSTER_IDENTITY: 'garden',
    });
  });

  it('has Flux fetch what a Git host has reported to the project', async () => {
    await edit();
    await stage.deliver();
    await untilPushReachesFlux();
  });

  it('brings the metrics of Flux to the Prometheus of the Shoot while the project asks for them', async () => {
    const authority = secretWith(CONTROL_PLANE, 'ca-bundle', { 'bundle.crt': 'certificates' });
    const labels = { 'managed-by': 'secrets-manager', 'bundle-for': 'ca' };
    const labelled = { ...authority, metadata: { ...authority.metadata, labels } };
    await stage.seed.create(resources.secrets, labelled, { fieldManager: 'gardenlet' });
    await edit({ monitoring: 'true' });
    await stage.deliver();
    const withMetrics = [...all.slice(0, 2), 'shoot-flux-monitoring', ...all.slice(2)];
    await stage.untilManagedResources(...withMetrics);
    // The label by which the product finds its own.
    const unlabelled = { metadata: { labels: { origin: null } } };
    const name = inControlPlane('shoot-flux-monitoring');
    await stage.seed.mergePatch(resources.managedResources, name, unlabelled, { fieldManager: 'person' });
    await stage.deliver();
    const isLabelled = (live: KubeObject | undefined) => live?.metadata.labels?.origin === 'shoot-flux';
    await eventually('the label', () => stage.seed.find(resources.managedResources, name), isLabelled);
    await edit();
    await stage.untilManagedResources(...all);
  });

  it('suspends source and Kustomization, says who and why, and resumes both', async () => {
    await edit({ syncMode: 'Reconcile' });
    await stage.deliver();
    await stage.bootstrap();
    await stage.annotateFluxConfig(suspended);
    await untilSuspended(stage, true);
    const sentence = `Suspended ${who}; shoot-flux resume --project PROJECT takes it back.`;
    expect(await stage.untilCondition('KustomizationReady', sentence)).toMatchObject({ status: 'True' });
    expect(await stage.untilCondition('SourceReady', sentence)).toMatchObject({ reason: 'Suspended' });
    const shown = async () => textAt(await stage.garden.find(resources.configMaps, statusMap), 'data', 'Suspended');
    expect(await eventually('flux-status', shown, (text) => text !== undefined)).toBe(who);
    await stage.annotateFluxConfig(resumed);
    await untilSuspended(stage, false);
    await stage.markReady(...both);
    await stage.untilCondition('KustomizationReady', 'is Ready');
    await eventually('flux-status', shown, (text) => text === undefined);
    expect((await stage.extension()).status?.state?.applied).not.toHaveProperty('suspension');
  });

  it('shows the members of the project what is wrong with the Shoot, until the extension leaves it', async () => {
    await edit({ repositoryType: 'wrong' });
    await stage.reconcileShoot();
    const lines = async () =>
      ((await stage.garden.find(resources.configMaps, statusMap))?.data ?? {}) as Record<string, string>;
    const { bar, Summary } = await eventually('the line of the Shoot', lines, (data) => data.bar !== undefined);
    expect(bar).toMatch(/^Not Ready since [0-9T:-]+Z: ConfigMap garden-foo\/flux-config: repositoryType /);
    expect(Summary).toBe('0 Ready, 0 progressing, 1 not Ready of 1 Shoot');
    const about = (await stage.events()).filter(
      ({ involvedObject }) => (involvedObject as { kind: string }).kind === 'Shoot',
    );
    expect(about.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
      expect.stringContaining('FluxNotReady: Flux is not Ready: ConfigMap garden-foo/flux-config: repositoryType '),
    ]);
    await stage.garden.delete(resources.configMaps, statusMap);
    await eventually('the line in a new ConfigMap', lines, (data) => data.bar === bar && data.Summary === Summary);
    const damage = { data: { bar: 'Ready', Summary: 'all is well', note: 'ours' } };
    await stage.garden.mergePatch(resources.configMaps, statusMap, damage, { fieldManager: 'kubectl-edit' });
    await eventually('the corrected line', lines, (data) => data.bar === bar && data.Summary === Summary);
    expect((await lines()).note).toBe('ours');
    await stage.deleteExtension();
    await eventually('the end of the line', lines, (data) => data.bar === undefined);
  });

  it('changes nothing in a second reconciliation except what Gardener requires', async () => {
    await edit();
    await stage.deliver();
    await stage.quiet();
    stage.requests.length = 0;
    await stage.deliver();
    await stage.quiet();
    const writes = stage.requests.filter(({ method }) => method !== 'GET');
    expect(writes.map(({ identity, method, resource }) => `${identity} ${method} ${resource}`)).toEqual([
      'managed-resources PATCH extensions.extensions.gardener.cloud',
      'managed-resources PATCH extensions.extensions.gardener.cloud',
    ]);
  });

  it('mode Once: releases Flux after the first success; only Secrets and shoot-info follow', async () => {
    const { status } = await live({ syncMode: 'Once' });
    const { configHash } = status?.state?.applied ?? {};
    const at = expect.stringMatching(/T\d\d:\d\d:\d\dZ$/);
    expect(status?.state?.bootstrapped).toEqual({ at, fluxVersion: expect.stringMatching(/^v2/), configHash });
    await stage.untilManagedResources('shoot-flux-secrets');
    expect(await stage.inShoot(kustomizations, 'main-ks')).toBeDefined();
    expect(await stage.inShoot(resources.deployments, 'source-controller')).toBeDefined();
    await edit({ syncMode: 'Once', repositoryBranch: 'other' });
    await stage.deliver();
    await stage.quiet();
    await stage.untilBranch('main');
    expect(await names()).toEqual(['shoot-flux-secrets']);
    const ours = { namespace: CONTROL_PLANE, labelSelector: 'origin=shoot-flux' };
    expect((await stage.seed.list(resources.secrets, ours)).items).toHaveLength(1);
  });

  it.each<[string, Record<string, string>]>([
    ['mode ManifestsOnly', { syncMode: 'ManifestsOnly' }],
    ['without a mode', {}],
  ])('%s: sources follow flux-config, and the controllers are released', async (_, mode) => {
    await live(mode);
    await stage.untilManagedResources('shoot-flux-secrets', 'shoot-flux-sync');
    await edit({ ...mode, repositoryBranch: 'other' });
    await stage.untilBranch('other');
  });

  it('without a mode: sources that Once has released follow again if they are unchanged in the shoot', async () => {
    await live({ syncMode: 'Once' });
    await stage.untilManagedResources('shoot-flux-secrets');
    await edit();
    await stage.untilManagedResources('shoot-flux-secrets', 'shoot-flux-sync');
    await edit({ repositoryBranch: 'other' });
    await stage.untilBranch('other');
  });

  it('without a mode: sources that were changed after Once had released them stay as they are, until a mode is set', async () => {
    await live({ syncMode: 'Once' });
    await stage.untilManagedResources('shoot-flux-secrets');
    const path = './of-the-user';
    const asUser = { fieldManager: 'user' };
    await stage.shoot.mergePatch(kustomizations, inFlux('main-ks'), { spec: { path } }, asUser);
    await edit();
    const { status } = await stage.until('the problem', ({ state }) => state?.applied?.problem !== undefined);
    expect(status?.state?.applied).toMatchObject({
      syncMode: 'Once',
      problem: expect.stringContaining('differ from the configuration'),
    });
    await stage.quiet();
    expect(await names()).toEqual(['shoot-flux-secrets']);
    expect(await stage.specInShoot(kustomizations, 'main-ks')).toMatchObject({ path });
    await edit({ syncMode: 'ManifestsOnly' });
    await stage.untilManagedResources('shoot-flux-secrets', 'shoot-flux-sync');
    await untilPath('./');
  });

  it('mode Reconcile: manages everything, releases it on a switch to Once, and adopts it on a switch back', async () => {
    await live({ syncMode: 'Reconcile' });
    await stage.quiet();
    expect(await names()).toEqual(all);
    await edit({ syncMode: 'Once' });
    await stage.untilManagedResources('shoot-flux-secrets');
    await edit({ syncMode: 'Reconcile', repositoryBranch: 'other' });
    await stage.untilManagedResources(...all);
    await stage.untilBranch('other');
  });

  it('follows the config in every mode until the first success, so that a typo can be corrected', async () => {
    await edit({ repositoryBranch: 'typo' });
    await stage.deliver();
    await stage.untilBranch('typo');
    await edit();
    await stage.untilBranch('main');
  });

  it('reports an invalid config in one sentence with a retryable code, and recovers once it is corrected', async () => {
    await edit({ repositoryBranchh: 'main' });
    await stage.reconcileShoot({ status: { lastOperation: creating } });
    const { codes } = await stage.untilError('repositoryBranchh');
    expect(codes).toEqual(['ERR_RETRYABLE_CONFIGURATION_PROBLEM']);
    // The error is reported first, so that no earlier success passes for this operation's.
    await eventually(
      'the annotation is gone',
      stage.extension,
      ({ metadata }) => metadata.annotations?.['gardener.cloud/operation'] === undefined,
    );
    await stage.untilEvent('InvalidConfiguration', 'repositoryBranchh');
    await edit();
    await stage.untilReady();
    await stage.bootstrap();
    // A run logs its write a moment after others can read it.
    await stage.quiet();

    // The log has the whole way of the Shoot under its key.
    const key = `${SEED}/${CONTROL_PLANE}/shoot-flux`;
    const lines = stage.logLines.map((line): Record<string, unknown> => JSON.parse(line));
    const said = lines.filter((line) => line.key === key && line.message !== 'reconcile finished');
    const expectLogged = (fields: object) => expect(said).toContainEqual(expect.objectContaining(fields));
    const operation = { message: 'operation reported', type: 'Create' };
    const error = expect.stringContaining('repositoryBranchh');
    expectLogged({ ...operation, level: 'warn', state: 'Error', error });
    const description = expect.stringContaining('are applied');
    expectLogged({ ...operation, level: 'info', state: 'Succeeded', description });
    const condition = { type: 'SourceReady', status: 'True', reason: 'Ready' };
    expectLogged({ message: 'condition changed', level: 'info', ...condition });
    expectLogged({ message: 'first success recorded' });
  });

  it('warns when the garden knows the seed under another name, because changes would arrive late', async () => {
    const warnings = () => stage.logLines.filter((line) => line.includes('the garden calls it other'));
    const called = (seed: string) =>
      stage.seed.mergePatch(
        resources.clusters,
        { name: CONTROL_PLANE },
        { spec: { seed: { metadata: { name: seed } } } },
        { fieldManager: 'gardenlet' },
      );
    await stage.writeCluster();
    await called(SEED);
    await stage.deliver();
    expect(warnings()).toEqual([]);
    await called('other');
    await stage.operate('reconcile');
    await eventually(
      'the warning',
      async () => warnings(),
      (lines) => lines.length > 0,
    );
  });

  it('creates a key for a private repository and delivers it to the shoot', async () => {
    await stage.setFluxConfig(privateRepository);
    await stage.deliver();
    const inGarden = await stage.garden.find(resources.secrets, source);
    const inShoot = await stage.inShoot(resources.secrets, 'flux-source');
    expect(Object.keys(inShoot?.data as object).sort()).toEqual(['identity', 'identity.pub', 'known_hosts']);
    expect(inShoot?.data).toEqual(inGarden?.data);
    const data = { password: base64('changed') };
    await stage.garden.mergePatch(resources.secrets, source, { data }, { fieldManager: 'person' });
    await stage.untilInShoot(
      resources.secrets,
      'flux-source',
      (secret) => (secret?.data as Record<string, string>)?.password === data.password,
    );
  });

  it('waits for the host keys of an unknown host, and adds them to the Secret once they are configured', async () => {
    const repository = { ...privateRepository, repositoryUrl: 'ssh://git@git.example.com/org/fleet' };
    await stage.setFluxConfig(repository);
    await stage.reconcileShoot();
    await stage.untilDescribed('knownHosts');
    const knownHosts = `git.example.com ${hostKey}`;
    await stage.setFluxConfig({ ...repository, knownHosts });
    await stage.untilReady();
    const inShoot = await stage.inShoot(resources.secrets, 'flux-source');
    expect(inShoot?.data).toMatchObject({ known_hosts: base64(`${knownHosts}\n`) });
  });

  it('uses the internal kubeconfig where the control plane has no other', async () => {
    const external = inControlPlane('gardener');
    const secret = await stage.seed.find(resources.secrets, external);
    const metadata = inControlPlane('gardener-internal');
    const internal = { apiVersion: 'v1', kind: 'Secret', metadata, data: secret?.data };
    await stage.seed.create(resources.secrets, internal, { fieldManager: 'gardener' });
    await stage.seed.delete(resources.secrets, external);
    await live();
    await untilPushReachesFlux();
  });

  it('copies Secrets with their type, and ConfigMaps, and waits for a copy that lags', async () => {
    await stage.reconcileShoot({
      spec: { resources: [reference('creds', 'registry'), reference('vars', 'variables', 'ConfigMap')] },
      providerConfig: onlyFlux({
        additionalSecretResources: [{ name: 'creds', targetName: 'pull' }, { name: 'vars' }],
      }),
    });
    await stage.untilDescribed('registry');
    const type = 'kubernetes.io/dockerconfigjson';
    await stage.putSecret('seed', inControlPlane('ref-registry'), { '.dockerconfigjson': '{}' }, { type });
    const data = { region: 'here' };
    const variables = { apiVersion: 'v1', kind: 'ConfigMap', metadata: inControlPlane('ref-variables'), data };
    await stage.seed.create(resources.configMaps, variables, { fieldManager: 'gardener' });
    const { status } = await stage.untilReady();
    expect(await stage.inShoot(resources.secrets, 'pull')).toMatchObject({
      type,
      data: { '.dockerconfigjson': base64('{}') },
    });
    expect(status?.resources).toEqual([
      reference('creds', 'ref-registry'),
      reference('vars', 'ref-variables', 'ConfigMap'),
    ]);
    expect(await stage.inShoot(resources.configMaps, 'variables')).toMatchObject({ data });
  });

  it("takes a Shoot over from stackitcloud's extension and counts its condition as the first success", async () => {
    await stage.stopProduct();
    const fluxNamespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'flux-system' } };
    await stage.shoot.create(resources.namespaces, fluxNamespace, former);
    await edit();
    await stage.reconcileShoot();
    await stage.patchStatus({ conditions: [formerCondition] });
    await stage.startProduct();
    await stage.untilReady();
    const { status } = await stage.until('the first success', ({ state }) => state?.bootstrapped !== undefined);
    expect(status?.state?.bootstrapped?.at).toBe(formerCondition.lastTransitionTime);
    expect(status?.conditions).toContainEqual(formerCondition);
    expect(await names()).toEqual(['shoot-flux-secrets']);
  });

  it("releases the ManagedResources of 23technologies' extension before writing its own", async () => {
    await stage.stopProduct();
    const metadata = { namespace: 'kube-system', name: 'former' };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} };
    await stage.putSecret('seed', inControlPlane('former'), { 'a.yaml': JSON.stringify(object) });
    for (const each of ['extension-shoot-flux-flux-config', 'extension-shoot-flux-flux-install']) {
      const managed = {
        ...{ apiVersion: 'resources.gardener.cloud/v1alpha1', kind: 'ManagedResource' },
        ...{ metadata: inControlPlane(each), spec: { secretRefs: [{ name: 'former' }] } },
      };
      await stage.seed.create(resources.managedResources, managed, former);
    }
    const deployed = () => stage.shoot.find(resources.configMaps, metadata);
    await eventually('the former object', deployed, (found) => found !== undefined);
    await edit();
    await stage.reconcileShoot();
    await stage.startProduct();
    await stage.untilReady();
    expect(await names()).toEqual(all);
    expect(await deployed()).toBeDefined();
  });

  it('suspends and releases Flux in a Shoot that is being deleted, before gardenlet cleans up, also when a copied Secret is gone', async () => {
    await edit({ syncMode: 'Reconcile' });
    const copy = inControlPlane('ref-registry');
    await stage.putSecret('seed', copy, { a: 'b' });
    const parts = {
      spec: { resources: [reference('creds', 'registry')] },
      providerConfig: onlyFlux({ additionalSecretResources: [{ name: 'creds' }] }),
    };
    await stage.deliver(parts);
    await stage.seed.delete(resources.secrets, copy);
    await stage.reconcileShoot({ ...parts, metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } });
    await stage.untilManagedResources();
    await stage.untilInShoot(
      kustomizations,
      'main-ks',
      (object) => (object?.spec as { suspend?: boolean } | undefined)?.suspend === true,
    );
    await stage.leave();
    expect(await names()).toEqual([]);
    const ours = { namespace: CONTROL_PLANE, labelSelector: 'origin=shoot-flux' };
    expect((await stage.seed.list(resources.secrets, ours)).items).toEqual([]);
    for (const found of [
      await stage.inShoot(resources.deployments, 'source-controller'),
      await stage.inShoot(kustomizations, 'main-ks'),
    ]) {
      expect(found).toBeDefined();
      expect(found?.metadata).not.toHaveProperty('deletionTimestamp');
    }
  });

  it('triggers the webhook again where the resource-manager may not write, and reports it', async () => {
    await stage.stopResourceManager();
    await stage.startResourceManager(['kube-system']);
    await stage.seed.create(resources.deployments, resourceManager, { fieldManager: 'person' });
    await edit();
    await stage.reconcileShoot();
    await stage.untilError('--extra-target-namespace=flux-system');
    const asked = stage.requests.filter(({ resource }) => resource === 'deployments.apps');
    expect(asked.map(({ identity, method, status }) => `${identity} ${method} ${status}`)).toContain(
      'managed-resources PATCH 200',
    );
  });
});

const resourceManager = smallDeployment(
  inControlPlane('gardener-resource-manager'),
  'gardener-resource-manager',
  'example.com/gardener/resource-manager:v1.147.0',
);

const formerCondition = {
  type: 'FluxBootstrapped',
  status: 'True',
  reason: 'BootstrapSuccessful',
  message: 'done',
  lastTransitionTime: '2026-01-02T03:04:05Z',
  lastUpdateTime: '2026-01-02T03:04:05Z',
};

const hostKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI';
