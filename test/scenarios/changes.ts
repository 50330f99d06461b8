import { gitRepositories, helmReleases, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect, it } from 'vitest';
import {
  applyState,
  contentSecret,
  managedResourcePatch,
  unpackContent,
} from '../../shared/gardener/managed-resource.ts';
import type { ManagedResource } from '../../shared/gardener/types.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { stageSuite } from './around-each-test.ts';
import { watchSpecs } from './removal.ts';
import {
  base64,
  CONTROL_PLANE,
  core,
  eventually,
  inControlPlane,
  inFlux,
  privateRepository,
  providerConfig,
  reference,
} from './stage.ts';

const fieldManager = 'person';
const root = inFlux('flux-system');
const sync = inControlPlane('shoot-flux-sync');
const claims: Resource = {
  ...{ group: '', version: 'v1', plural: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', namespaced: true },
};
/** Another Kustomization in the place of the former one. */
const renamed = { kustomization: { template: { metadata: { name: 'other' }, spec: { path: './', prune: true } } } };
const syncMode = 'Reconcile';
const isDeleting = (live: KubeObject | undefined) => live?.metadata.deletionTimestamp !== undefined;
const isSuspended = (live: KubeObject | undefined) =>
  (live?.spec as { suspend?: boolean } | undefined)?.suspend === true;

/** Changes by users and Gardener during the life of a Shoot, on embedded or real API servers. */
export const changesSuite = stageSuite((stage) => {
  const deliver = (parts: Record<string, unknown> = {}, branch = 'main') =>
    stage.deliver({ providerConfig: providerConfig(parts, branch) });
  const ask = (parts: Record<string, unknown> = {}, branch = 'main') =>
    stage.reconcileShoot({ providerConfig: providerConfig(parts, branch) });
  const live = async (parts: Record<string, unknown> = {}) => {
    await deliver(parts);
    return stage.bootstrap();
  };
  const setFinalizers = (finalizers: string[] | null, resource = kustomizations, object = 'flux-system') =>
    stage.shoot.mergePatch(resource, inFlux(object), { metadata: { finalizers } }, { fieldManager });
  /** Flux runs, its Kustomization has a finalizer, which kustomize-controller would need to prune; the product is down. */
  const stopped = async () => {
    await deliver({ syncMode });
    await stage.stopProduct();
    await setFinalizers(['finalizers.fluxcd.io']);
  };
  /** Starts the product with another Kustomization in the configuration. */
  const expectSuspendedBeforeDeletion = async () => {
    await ask({ syncMode, ...renamed });
    await stage.startProduct();
    expect(isSuspended(await stage.untilInShoot(kustomizations, 'flux-system', isDeleting))).toBe(true);
    await setFinalizers(null);
    await stage.untilReady();
    expect(await stage.inShoot(kustomizations, 'flux-system')).toBeUndefined();
    expect(await stage.inShoot(kustomizations, 'other')).toBeDefined();
  };
  const patchSync = (patch: object) => stage.seed.mergePatch(resources.managedResources, sync, patch, { fieldManager });
  const untilFollowed = (problem: string) => stage.untilCondition('ConfigurationFollowed', problem);
  /** No garbage collector runs here, so deletions with foreground propagation would never finish. */
  const collect = async (...components: string[]) => {
    for (const component of components) {
      await stage.untilInShoot(resources.deployments, component, isDeleting);
      await setFinalizers(null, resources.deployments, component);
    }
  };

  it('keeps objects that users created from the CRDs of a removed component', async () => {
    await deliver({ flux: { components: [...core, 'helm-controller'] }, syncMode });
    const release = {
      apiVersion: 'helm.toolkit.fluxcd.io/v2',
      kind: 'HelmRelease',
      metadata: { ...inFlux('podinfo'), finalizers: ['finalizers.fluxcd.io'] },
      spec: {
        interval: '5m',
        chart: { spec: { chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'a' } } },
      },
    };
    await stage.shoot.create(helmReleases, release as KubeObject, { fieldManager });
    await ask({ flux: { components: core }, syncMode });
    await collect('helm-controller');
    await stage.untilReady();
    expect((await stage.inShoot(helmReleases, 'podinfo'))?.metadata).not.toHaveProperty('deletionTimestamp');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['nothing else has happened', async () => {}],
    ['its record is lost', () => stage.patchStatus({ state: { applied: null } })],
    ['its ManagedResource has lost its label', () => patchSync({ metadata: { labels: { origin: null } } })],
  ])('suspends a removed Kustomization first, also when %s', async (_, happens) => {
    await stopped();
    await happens();
    await expectSuspendedBeforeDeletion();
  });

  it('suspends a removed Kustomization in the shoot itself where the resource-manager has skipped it', async () => {
    await stopped();
    // With the annotation, the resource-manager never applies the suspension.
    const managed = (await stage.managedResources())['shoot-flux-sync'] as ManagedResource;
    const secret = await stage.seed.find(resources.secrets, inControlPlane(managed.spec.secretRefs[0]?.name ?? ''));
    const annotations = { 'resources.gardener.cloud/ignore': 'true' };
    const content = (unpackContent(secret?.data as Record<string, string>) ?? []).map((object) =>
      object.kind === 'Kustomization'
        ? {
            ...object,
            metadata: { ...object.metadata, annotations },
            spec: { ...(object.spec as object), suspend: true },
          }
        : object,
    );
    const ignoring = await contentSecret(CONTROL_PLANE, 'shoot-flux-sync', content);
    await stage.seed.create(resources.secrets, ignoring, { fieldManager });
    const patch = managedResourcePatch(managed, ignoring.metadata.name);
    await patchSync(patch);
    await eventually(
      'the resource-manager has skipped the Kustomization',
      async () => (await stage.managedResources())['shoot-flux-sync'],
      (found) => found !== undefined && applyState(found).state === 'applied',
    );
    expect(await stage.specInShoot(kustomizations, 'flux-system')).not.toHaveProperty('suspend');
    await expectSuspendedBeforeDeletion();
  });

  it.each(['has left the configuration', 'is suspended already'])(
    'removes a Kustomization that %s when the content of its ManagedResource gets lost',
    async (when) => {
      await stopped();
      if (when === 'is suspended already') {
        await stage.startProduct();
        await stage.stopResourceManager();
        await ask({ syncMode, ...renamed });
        await stage.until('its removal is pending', ({ state }) => (state?.applied?.leaving?.length ?? 0) > 0);
        await stage.quiet();
        await stage.stopProduct();
        await stage.startResourceManager();
        await stage.untilInShoot(kustomizations, 'flux-system', isSuspended);
      }
      const { 'shoot-flux-sync': managed } = await stage.managedResources();
      await stage.seed.delete(resources.secrets, inControlPlane(managed?.spec.secretRefs[0]?.name ?? ''));
      await expectSuspendedBeforeDeletion();
      const former = 'Kustomization.kustomize.toolkit.fluxcd.io/flux-system/flux-system';
      await stage.until('the record forgets it', ({ state }) => !JSON.stringify(state).includes(former));
    },
  );

  it('releases a ManagedResource whose Secrets were removed from it, before the resource-manager deletes its objects', async () => {
    await stopped();
    await stage.stopResourceManager();
    await patchSync({ spec: { secretRefs: [] } });
    const removed = expectSuspendedBeforeDeletion();
    await eventually(
      'the ManagedResource is released',
      stage.managedResources,
      (all) => all['shoot-flux-sync']?.metadata.deletionTimestamp !== undefined,
    );
    await stage.startResourceManager();
    await removed;
  });

  it('keeps the controllers of removed objects until the objects are gone', async () => {
    await deliver({ syncMode });
    await setFinalizers(['finalizers.fluxcd.io']);
    await stage.reconcileShoot({ providerConfig: { syncMode, flux: { components: ['source-controller'] } } });
    await stage.untilInShoot(kustomizations, 'flux-system', isDeleting);
    await stage.quiet();
    expect(isDeleting(await stage.untilInShoot(resources.deployments, 'kustomize-controller'))).toBe(false);
    await setFinalizers(null);
    await collect('kustomize-controller', 'helm-controller', 'notification-controller');
    await stage.untilReady();
    expect((await stage.extension()).status?.state?.applied?.components).toEqual(['source-controller']);
  });

  it('mode ManifestsOnly: reports an error of the installation as a condition and never fails the Shoot', async () => {
    await live({ syncMode: 'ManifestsOnly' });
    await ask({ flux: { registry: 'https://registry.example.com' }, syncMode: 'ManifestsOnly' });
    await untilFollowed('registry');
    await stage.untilReady();
    await ask({ flux: { components: [...core, 'no-such-controller'] }, syncMode: 'ManifestsOnly' }, 'other');
    await stage.untilBranch('other', 'flux-system');
    await stage.untilReady();
  });

  it('keeps what was applied when the configuration becomes invalid', async () => {
    const annotations = { 'resources.gardener.cloud/ignore': 'true' };
    const template = { metadata: { annotations }, spec: { path: './', prune: true } };
    await deliver({ syncMode });
    const specs = async () => Object.values(await stage.managedResources()).map(({ spec }) => spec);
    const before = await specs();
    await ask({ syncMode, kustomization: { template } });
    await stage.untilError(
      'kustomization.template.metadata.annotations has the key "resources.gardener.cloud/ignore", which is reserved for Gardener; remove it',
    );
    expect(await specs()).toEqual(before);
    expect(await stage.inShoot(kustomizations, 'flux-system')).toBeDefined();
    expect((await deliver({ syncMode })).status?.lastError).toBeUndefined();
  });

  it('mode Once: releases Flux also when the same edit has an error that no longer matters', async () => {
    await live({ syncMode });
    await ask({ flux: { namespace: 'elsewhere' }, syncMode: 'Once' });
    await untilFollowed('providerConfig: flux.namespace cannot change after the first success');
    await stage.untilManagedResources('shoot-flux-secrets');
    const { status } = await stage.untilReady();
    expect(status?.state?.applied).toMatchObject({ syncMode: 'Once', namespace: 'flux-system' });
  });

  it('mode Once: reports an edit that it does not follow, until the edit is reverted', async () => {
    await live();
    await ask({}, 'other');
    await untilFollowed('syncMode Once');
    await stage.untilReady();
    await ask();
    await stage.until(
      'no error is reported',
      ({ conditions }) => conditions?.every(({ type }) => type !== 'ConfigurationFollowed') === true,
    );
  });

  it('removes a Kustomization whose removal is pending when the mode becomes Once', async () => {
    await live({ syncMode });
    const pause = (ignore: 'true' | null) =>
      patchSync({ metadata: { annotations: { 'resources.gardener.cloud/ignore': ignore } } });
    await pause('true');
    await ask({ syncMode, ...renamed });
    await stage.until('removal of the old one is pending', ({ state }) => (state?.applied?.leaving?.length ?? 0) > 0);
    await ask({ syncMode: 'Once', ...renamed });
    await eventually('the release', stage.managedResources, (all) => all['shoot-flux-controllers'] === undefined);
    await pause(null);
    await stage.untilInShoot(kustomizations, 'flux-system', (found) => found === undefined);
    await stage.untilManagedResources('shoot-flux-secrets');
    expect(await stage.inShoot(kustomizations, 'other')).toBeDefined();
    await stage.untilReady();
  });

  it('keeps what only the ConfigMap configured when the ConfigMap is deleted, and reports it', async () => {
    await stage.setFluxConfig({ syncMode, logLevel: 'debug' });
    await live();
    await stage.setFluxConfig(undefined);
    await untilFollowed('flux-config');
    await stage.quiet();
    expect(Object.keys(await stage.managedResources())).toHaveLength(4);
    await stage.untilReady();
  });

  it('follows the Shoot when a ConfigMap that said the same is deleted', async () => {
    await stage.setFluxConfig({ repositoryUrl: 'https://git.example.com/project' });
    await live({ syncMode });
    await stage.setFluxConfig(undefined);
    await stage.until('the ConfigMap is no longer used', ({ state }) => state?.applied?.fromFluxConfig === false);
    const { status } = await deliver({ syncMode }, 'other');
    expect(status?.state?.applied).not.toHaveProperty('problem');
    await stage.untilBranch('other', 'flux-system');
  });

  it('trap 2: keeps restore until it has succeeded, also with an invalid config', async () => {
    await stage.stopProduct();
    await ask({ syncModus: 'Once' });
    await stage.operate('restore');
    await stage.startProduct();
    const failed = await stage.until('the error', ({ lastError }) => lastError != null);
    expect(failed.status?.lastOperation?.type).toBe('Restore');
    expect(failed.metadata.annotations).toMatchObject({ 'gardener.cloud/operation': 'restore' });
    await stage.patchExtension({ spec: { providerConfig: { syncModus: null } } });
    expect((await stage.untilReady()).status?.lastOperation?.type).toBe('Restore');
  });

  const referring = {
    spec: { resources: [reference('creds', 'a')] },
    providerConfig: providerConfig({ additionalSecretResources: [{ name: 'creds' }], syncMode }),
  };
  const copy = (texts: Record<string, string>, type = 'Opaque') =>
    stage.putSecret('seed', inControlPlane('ref-a'), texts, { type });

  it('replaces a Secret in the shoot when its type changes', async () => {
    await copy({ 'config.json': '{}' });
    await stage.deliver(referring);
    await stage.seed.delete(resources.secrets, inControlPlane('ref-a'));
    const type = 'kubernetes.io/dockerconfigjson';
    await copy({ '.dockerconfigjson': '{}' }, type);
    await stage.deliver(referring);
    expect(await stage.inShoot(resources.secrets, 'a')).toMatchObject({ type });
  });

  it('delivers a copy of a Secret that Gardener refreshes only after the operation', async () => {
    await copy({ key: 'old' });
    await stage.deliver(referring);
    await copy({ key: 'new' });
    const isNew = (found: KubeObject | undefined) => (found?.data as { key?: string })?.key === base64('new');
    await stage.untilInShoot(resources.secrets, 'a', isNew);
  });

  it('follows a changed namespace and a deleted configuration before the first success', async () => {
    await deliver();
    await ask({ flux: { namespace: 'elsewhere' } });
    await collect(...core, 'helm-controller', 'notification-controller');
    await stage.untilReady();
    const elsewhere = { namespace: 'elsewhere', name: 'flux-system' };
    expect(await stage.shoot.find(kustomizations, elsewhere)).toBeDefined();
    expect(await stage.shoot.find(kustomizations, root)).toBeUndefined();
    const seen = await watchSpecs(stage);
    await stage.reconcileShoot({ providerConfig: { flux: { namespace: 'elsewhere' } } });
    await eventually('no sync', stage.managedResources, (all) => all['shoot-flux-sync'] === undefined);
    await stage.untilReady();
    await eventually(
      'the deletion',
      async () => seen(),
      (deleted) => 'elsewhere/flux-system' in deleted,
    );
    expect(seen()).toEqual({ 'elsewhere/flux-system': true });
    expect(await stage.shoot.find(kustomizations, elsewhere)).toBeUndefined();
    expect(await stage.shoot.find(resources.namespaces, { name: 'flux-system' })).toBeDefined();
  });

  it('creates a claim once, keeps it without storage, and deletes the one in use with Flux', async () => {
    const follow = async (flux: object) => {
      await deliver({ syncMode, deletionPolicy: 'Uninstall', flux });
      await stage.quiet();
    };
    // A real API server protects it until a controller sees that no Pod uses it.
    const claim = async () => {
      const found = await stage.inShoot(claims, 'source-controller');
      return isDeleting(found) ? undefined : found?.spec;
    };
    const small = { resources: { requests: { storage: '1Gi' } } };
    // An API server refuses another size or class of most claims.
    for (const flux of [{ storage: { size: '1Gi' } }, { storage: { size: '2Gi' } }, {}]) {
      await follow(flux);
      expect(await claim()).toMatchObject(small);
    }
    await follow({ storage: { size: '2Gi' } });
    await stage.deleteExtension();
    await eventually('the claim is gone', claim, (spec) => spec === undefined);
  });

  it.each([
    ['a configuration without it is followed again', 'Reconcile', false],
    ['a mode that follows it was refused before', 'ManifestsOnly', true],
  ])('keeps what mode Once has released to the user, when %s', async (_, mode, isRefusedFirst) => {
    const follow = async (names: string[], parts: Record<string, unknown>) => {
      const list = names.map((each) => ({
        template: { metadata: { name: each }, spec: { path: `./${each}`, prune: true } },
      }));
      await deliver({ ...parts, kustomizations: list, kustomization: undefined });
      await stage.quiet();
    };
    const both = ['flux-system', 'apps'];
    await follow(both, { syncMode: mode });
    await stage.markReady([kustomizations, 'apps']);
    await stage.bootstrap();
    await follow(both, { syncMode: 'Once' });
    if (isRefusedFirst) {
      await follow(both, { syncMode: mode, flux: { namespace: 'elsewhere' } });
      expect((await stage.extension()).status?.state?.applied?.problem).toContain('flux.namespace cannot change');
    }
    await follow(['flux-system'], { syncMode: mode });
    const kept = await stage.inShoot(kustomizations, 'apps');
    expect(kept?.metadata).not.toHaveProperty('deletionTimestamp');
    expect(kept?.spec).toMatchObject({ path: './apps', prune: true });
    expect(kept?.spec).not.toHaveProperty('suspend');
  });

  it('replaces a source by one of another kind', async () => {
    await deliver({ syncMode });
    const spec = { bucketName: 'fleet', endpoint: 's3.example.com' };
    const source = { template: { kind: 'Bucket', metadata: { namespace: 'elsewhere' }, spec } };
    await ask({ syncMode, source });
    await stage.untilInShoot(gitRepositories, 'flux-system', (found) => found === undefined);
    await stage.untilReady();
    const buckets = { ...gitRepositories, plural: 'buckets', kind: 'Bucket' };
    const bucket = await stage.shoot.find(buckets, { namespace: 'elsewhere', name: 'flux-system' });
    expect(bucket?.spec).toMatchObject(spec);
    expect(await stage.specInShoot(kustomizations, 'flux-system')).toMatchObject({
      sourceRef: { kind: 'Bucket', name: 'flux-system', namespace: 'elsewhere' },
    });
  });

  it('mode Once: keeps the credentials of a source that stays in the shoot', async () => {
    await stage.setFluxConfig({ ...privateRepository, syncMode: 'Once' });
    await stage.deliver();
    await stage.bootstrap();
    await stage.untilManagedResources('shoot-flux-secrets');
    await stage.setFluxConfig({ repositoryUrl: 'https://github.com/org/fleet', syncMode: 'Once' });
    await stage.deliver();
    await stage.quiet();
    const secretRef = { name: 'flux-source' };
    expect(await stage.specInShoot(gitRepositories, 'main-gitrepo')).toMatchObject({ secretRef });
    expect(await stage.inShoot(resources.secrets, 'flux-source')).toBeDefined();
  });
});
