import { gitRepositories, helmReleases, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { applyState, managedResourcePatch } from '../../shared/gardener/managed-resource.ts';
import { contentSecret, unpackContent } from '../../shared/gardener/managed-resource-content.ts';
import type { ManagedResource } from '../../shared/gardener/types.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { aroundEachTest } from './around-each-test.ts';
import { quiet } from './main-job.ts';
import { type Apis, CONTROL_PLANE, eventually, type Stage } from './stage.ts';

const fieldManager = 'person';
const extensionName = { namespace: CONTROL_PLANE, name: 'shoot-flux' };
const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const core = ['source-controller', 'kustomize-controller'];
const claims: Resource = {
  ...{ group: '', version: 'v1', plural: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', namespaced: true },
};

const ignored = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { 'resources.gardener.cloud/ignore': 'true' } },
  spec: { ...(object.spec as object), suspend: true },
});

/** Changes by users and Gardener during the life of a Shoot, on embedded or real API servers. */
export function changesSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    const untilBootstrapped = async () => {
      await stage.markReady([gitRepositories, 'flux-system'], [kustomizations, 'flux-system']);
      return eventually(
        'the first success',
        stage.extension,
        ({ status }) => status?.state?.bootstrapped !== undefined,
        ({ status }) => status,
      );
    };
    /** Starts the product with another Kustomization in the configuration. */
    const expectSuspendedBeforeDeletion = async (former: ReturnType<typeof inFlux>) => {
      const kustomization = { template: { metadata: { name: 'other' }, spec: { path: './', prune: true } } };
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile', kustomization }) });
      await stage.startProduct();
      const leaving = await eventually(
        'the former Kustomization is deleted',
        () => stage.shoot.find(kustomizations, former),
        (live) => live?.metadata.deletionTimestamp !== undefined,
      );
      expect(leaving?.spec).toMatchObject({ suspend: true });
      await stage.shoot.mergePatch(kustomizations, former, { metadata: { finalizers: null } }, { fieldManager });
      await stage.untilReady();
    };
    const untilFollowed = (problem: string) =>
      eventually(
        'the report',
        stage.extension,
        ({ status }) =>
          status?.conditions?.some(
            ({ type, message }) => type === 'ConfigurationFollowed' && message.includes(problem),
          ) === true,
        ({ status }) => status,
      );
    /** No garbage collector runs here, so deletions with foreground propagation would never finish. */
    const collect = async (resource: Resource, object: string) => {
      await eventually(
        `${resource.kind} ${object} is deleted`,
        () => stage.shoot.find(resource, inFlux(object)),
        (live) => live?.metadata.deletionTimestamp !== undefined,
      );
      await stage.shoot.mergePatch(resource, inFlux(object), { metadata: { finalizers: null } }, { fieldManager });
    };

    it('keeps objects that users created from the CRDs of a removed component', async () => {
      const components = [...core, 'helm-controller'];
      await stage.reconcileShoot({ providerConfig: config({ flux: { components }, syncMode: 'Reconcile' }) });
      await stage.untilReady();
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
      await stage.reconcileShoot({ providerConfig: config({ flux: { components: core }, syncMode: 'Reconcile' }) });
      await collect(resources.deployments, 'helm-controller');
      await stage.untilReady();
      expect((await stage.shoot.find(helmReleases, inFlux('podinfo')))?.metadata).not.toHaveProperty(
        'deletionTimestamp',
      );
    });

    it('suspends a removed Kustomization first, also when its record is lost', async () => {
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      await stage.stopProduct();
      const status = { state: { applied: null } };
      await stage.seed.mergePatch(
        resources.extensions,
        extensionName,
        { status },
        { fieldManager, subresource: 'status' },
      );
      // kustomize-controller would need these to prune.
      const finalizers = ['finalizers.fluxcd.io'];
      await stage.shoot.mergePatch(
        kustomizations,
        inFlux('flux-system'),
        { metadata: { finalizers } },
        { fieldManager },
      );
      const kustomization = { template: { metadata: { name: 'other' }, spec: { path: './', prune: true } } };
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile', kustomization }) });
      await stage.startProduct();
      const leaving = await eventually(
        'the former Kustomization is deleted',
        () => stage.shoot.find(kustomizations, inFlux('flux-system')),
        (live) => live?.metadata.deletionTimestamp !== undefined,
      );
      expect(leaving?.spec).toMatchObject({ suspend: true });
      const gone = { metadata: { finalizers: null } };
      await stage.shoot.mergePatch(kustomizations, inFlux('flux-system'), gone, { fieldManager });
      await stage.untilReady();
    });

    it('suspends a removed Kustomization in the shoot itself where the resource-manager has skipped it', async () => {
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      await stage.stopProduct();
      const root = inFlux('flux-system');
      await stage.shoot.mergePatch(
        kustomizations,
        root,
        { metadata: { finalizers: ['finalizers.fluxcd.io'] } },
        { fieldManager },
      );
      // With the annotation, the resource-manager never applies the suspension.
      const sync = (await stage.managedResources())['shoot-flux-sync'] as ManagedResource;
      const name = { namespace: CONTROL_PLANE, name: sync.spec.secretRefs[0]?.name ?? '' };
      const secret = await stage.seed.find(resources.secrets, name);
      const content = (unpackContent(secret?.data as Record<string, string>) ?? []).map((object) =>
        object.kind === 'Kustomization' ? ignored(object) : object,
      );
      const ignoring = await contentSecret(CONTROL_PLANE, 'shoot-flux-sync', content);
      await stage.seed.create(resources.secrets, ignoring, { fieldManager });
      const patch = managedResourcePatch(sync, ignoring.metadata.name);
      await stage.seed.mergePatch(resources.managedResources, sync.metadata, patch, { fieldManager });
      await eventually(
        'the resource-manager has skipped the Kustomization',
        async () => (await stage.managedResources())['shoot-flux-sync'],
        (live) => live !== undefined && applyState(live).state === 'applied',
      );
      expect((await stage.shoot.find(kustomizations, root))?.spec).not.toHaveProperty('suspend');
      await expectSuspendedBeforeDeletion(root);
    });

    it('suspends a removed Kustomization first, also when its ManagedResource has lost its label', async () => {
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      await stage.stopProduct();
      const root = inFlux('flux-system');
      const finalizers = ['finalizers.fluxcd.io'];
      await stage.shoot.mergePatch(kustomizations, root, { metadata: { finalizers } }, { fieldManager });
      const sync = { namespace: CONTROL_PLANE, name: 'shoot-flux-sync' };
      const unlabelled = { metadata: { labels: { origin: null } } };
      await stage.seed.mergePatch(resources.managedResources, sync, unlabelled, { fieldManager });
      await expectSuspendedBeforeDeletion(root);
    });

    it.each(['has left the configuration', 'is suspended already'])(
      'removes a Kustomization that %s when the content of its ManagedResource gets lost',
      async (when) => {
        await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
        await stage.untilReady();
        const finalizers = ['finalizers.fluxcd.io'];
        const former = inFlux('flux-system');
        await stage.shoot.mergePatch(kustomizations, former, { metadata: { finalizers } }, { fieldManager });
        if (when === 'is suspended already') {
          await stage.stopResourceManager();
          const kustomization = { template: { metadata: { name: 'other' }, spec: { path: './', prune: true } } };
          await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile', kustomization }) });
          await eventually(
            'its removal is pending',
            stage.extension,
            ({ status }) => (status?.state?.applied?.leaving?.length ?? 0) > 0,
          );
          await quiet(stage);
          await stage.stopProduct();
          await stage.startResourceManager();
          await eventually(
            'it is suspended',
            () => stage.shoot.find(kustomizations, former),
            (live) => (live?.spec as { suspend?: boolean } | undefined)?.suspend === true,
          );
        }
        await stage.stopProduct();
        const { 'shoot-flux-sync': sync } = await stage.managedResources();
        const content = { namespace: CONTROL_PLANE, name: sync?.spec.secretRefs[0]?.name ?? '' };
        await stage.seed.delete(resources.secrets, content);
        await expectSuspendedBeforeDeletion(former);
        expect(await stage.shoot.find(kustomizations, former)).toBeUndefined();
        expect(await stage.shoot.find(kustomizations, inFlux('other'))).toBeDefined();
        await eventually(
          'the record forgets it',
          stage.extension,
          ({ status }) =>
            !JSON.stringify(status?.state).includes(
              'Kustomization.kustomize.toolkit.fluxcd.io/flux-system/flux-system',
            ),
        );
      },
    );

    it('releases a ManagedResource whose Secrets were removed from it, before the resource-manager deletes its objects', async () => {
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      const former = inFlux('flux-system');
      const finalizers = ['finalizers.fluxcd.io'];
      await stage.shoot.mergePatch(kustomizations, former, { metadata: { finalizers } }, { fieldManager });
      await stage.stopResourceManager();
      await stage.stopProduct();
      const sync = { namespace: CONTROL_PLANE, name: 'shoot-flux-sync' };
      await stage.seed.mergePatch(resources.managedResources, sync, { spec: { secretRefs: [] } }, { fieldManager });
      const removed = expectSuspendedBeforeDeletion(former);
      await eventually(
        'the ManagedResource is released',
        stage.managedResources,
        (live) => live['shoot-flux-sync']?.metadata.deletionTimestamp !== undefined,
      );
      await stage.startResourceManager();
      await removed;
    });

    it('keeps the controllers of removed objects until the objects are gone', async () => {
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      const setFinalizers = (finalizers: string[] | null) =>
        stage.shoot.mergePatch(kustomizations, inFlux('flux-system'), { metadata: { finalizers } }, { fieldManager });
      await setFinalizers(['finalizers.fluxcd.io']);
      const flux = { components: ['source-controller'] };
      await stage.reconcileShoot({ providerConfig: { syncMode: 'Reconcile', flux } });
      await eventually(
        'the Kustomization is deleted',
        () => stage.shoot.find(kustomizations, inFlux('flux-system')),
        (live) => live?.metadata.deletionTimestamp !== undefined,
      );
      await quiet(stage);
      const controller = await stage.shoot.find(resources.deployments, inFlux('kustomize-controller'));
      expect(controller?.metadata).not.toHaveProperty('deletionTimestamp');
      await setFinalizers(null);
      for (const component of ['kustomize-controller', 'helm-controller', 'notification-controller']) {
        await collect(resources.deployments, component);
      }
      await stage.untilReady();
      expect((await stage.extension()).status?.state?.applied?.components).toEqual(['source-controller']);
    });

    it('mode ManifestsOnly: reports an error of the installation as a condition and never fails the Shoot', async () => {
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'ManifestsOnly' }) });
      await stage.untilReady();
      await untilBootstrapped();
      const flux = { registry: 'https://registry.example.com' };
      await stage.reconcileShoot({ providerConfig: config({ flux, syncMode: 'ManifestsOnly' }) });
      await untilFollowed('registry');
      await stage.untilReady();
      const components = { components: [...core, 'no-such-controller'] };
      await stage.reconcileShoot({ providerConfig: config({ flux: components, syncMode: 'ManifestsOnly' }, 'other') });
      await eventually(
        'the branch',
        () => stage.shoot.find(gitRepositories, inFlux('flux-system')),
        (live) => (live?.spec as { ref?: { branch?: string } } | undefined)?.ref?.branch === 'other',
      );
      await stage.untilReady();
    });

    it('keeps what was applied when the configuration becomes invalid', async () => {
      const annotations = { 'resources.gardener.cloud/ignore': 'true' };
      const template = { metadata: { annotations }, spec: { path: './', prune: true } };
      const sentence =
        'kustomization.template.metadata.annotations has the key "resources.gardener.cloud/ignore", which is reserved for Gardener; remove it';
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      const before = Object.values(await stage.managedResources()).map(({ spec }) => spec);
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile', kustomization: { template } }) });
      await eventually(
        'the error',
        stage.extension,
        ({ status }) => status?.lastError?.description.includes(sentence) === true,
        ({ status }) => status,
      );
      expect(Object.values(await stage.managedResources()).map(({ spec }) => spec)).toEqual(before);
      expect(await stage.shoot.find(kustomizations, inFlux('flux-system'))).toBeDefined();
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      const { status } = await stage.untilReady();
      expect(status?.lastError).toBeUndefined();
    });

    it('mode Once: releases Flux also when the same edit has an error that no longer matters', async () => {
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      await untilBootstrapped();
      const flux = { namespace: 'elsewhere' };
      await stage.reconcileShoot({ providerConfig: config({ flux, syncMode: 'Once' }) });
      await untilFollowed('providerConfig: flux.namespace cannot change after the first success');
      await eventually(
        'Flux is released',
        async () => Object.keys(await stage.managedResources()).join(),
        (names) => names === 'shoot-flux-secrets',
      );
      const { status } = await stage.untilReady();
      expect(status?.state?.applied).toMatchObject({ syncMode: 'Once', namespace: 'flux-system' });
    });

    it('mode Once: reports an edit that it does not follow, until the edit is reverted', async () => {
      await stage.reconcileShoot({ providerConfig: config({}) });
      await stage.untilReady();
      await untilBootstrapped();
      await stage.reconcileShoot({ providerConfig: config({}, 'other') });
      await untilFollowed('syncMode Once');
      await stage.untilReady();
      await stage.reconcileShoot({ providerConfig: config({}) });
      await eventually(
        'no error is reported',
        stage.extension,
        ({ status }) => status?.conditions?.every(({ type }) => type !== 'ConfigurationFollowed') === true,
        ({ status }) => status,
      );
    });

    it('removes a Kustomization whose removal is pending when the mode becomes Once', async () => {
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      await untilBootstrapped();
      const pause = (ignore: 'true' | null) =>
        stage.seed.mergePatch(
          resources.managedResources,
          { namespace: CONTROL_PLANE, name: 'shoot-flux-sync' },
          { metadata: { annotations: { 'resources.gardener.cloud/ignore': ignore } } },
          { fieldManager },
        );
      await pause('true');
      const kustomization = { template: { metadata: { name: 'other' }, spec: { path: './', prune: true } } };
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile', kustomization }) });
      await eventually(
        'removal of the old one is pending',
        stage.extension,
        ({ status }) => (status?.state?.applied?.leaving?.length ?? 0) > 0,
        ({ status }) => status,
      );
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Once', kustomization }) });
      await eventually(
        'the installation is released',
        () => stage.managedResources(),
        (live) => live['shoot-flux-controllers'] === undefined,
      );
      await pause(null);
      await eventually(
        'the old one is gone and everything is released',
        async () => ({
          former: await stage.shoot.find(kustomizations, inFlux('flux-system')),
          managedResources: Object.keys(await stage.managedResources()).join(),
        }),
        ({ former, managedResources }) => former === undefined && managedResources === 'shoot-flux-secrets',
      );
      expect(await stage.shoot.find(kustomizations, inFlux('other'))).toBeDefined();
      await stage.untilReady();
    });

    it('keeps what only the ConfigMap configured when the ConfigMap is deleted', async () => {
      await stage.setFluxConfig({ syncMode: 'Reconcile', logLevel: 'debug' });
      await stage.reconcileShoot({ providerConfig: config({}) });
      await stage.untilReady();
      await untilBootstrapped();
      await stage.setFluxConfig(undefined);
      await untilFollowed('flux-config');
      await quiet(stage);
      expect(Object.keys(await stage.managedResources())).toHaveLength(4);
      await stage.untilReady();
    });

    it('follows the Shoot when a ConfigMap that said the same is deleted', async () => {
      await stage.setFluxConfig({ repositoryUrl: 'https://git.example.com/project' });
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      await untilBootstrapped();
      await stage.setFluxConfig(undefined);
      await eventually(
        'the ConfigMap is no longer used',
        stage.extension,
        ({ status }) => status?.state?.applied?.fromFluxConfig === false,
        ({ status }) => status,
      );
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }, 'other') });
      const extension = await stage.untilReady();
      expect(extension.status?.state?.applied).not.toHaveProperty('problem');
      expect((await stage.shoot.find(gitRepositories, inFlux('flux-system')))?.spec).toMatchObject({
        ref: { branch: 'other' },
      });
    });

    it('trap 2: keeps restore until it has succeeded, also with an invalid config', async () => {
      await stage.stopProduct();
      await stage.reconcileShoot({ providerConfig: config({ syncModus: 'Once' }) });
      await annotate('restore');
      await stage.startProduct();
      const failed = await eventually('the error', stage.extension, ({ status }) => status?.lastError != null);
      expect(failed.status?.lastOperation?.type).toBe('Restore');
      expect(failed.metadata.annotations).toMatchObject({ 'gardener.cloud/operation': 'restore' });
      await stage.seed.mergePatch(
        resources.extensions,
        extensionName,
        { spec: { providerConfig: { syncModus: null } } },
        { fieldManager },
      );
      const restored = await stage.untilReady();
      expect(restored.status?.lastOperation?.type).toBe('Restore');
    });

    it('replaces a Secret in the shoot when its type changes', async () => {
      const reference = { name: 'creds', resourceRef: { apiVersion: 'v1', kind: 'Secret', name: 'a' } };
      const parts = {
        spec: { resources: [reference] },
        providerConfig: config({ additionalSecretResources: [{ name: 'creds' }], syncMode: 'Reconcile' }),
      };
      const copy = (type: string, key: string) =>
        stage.seed.create(
          resources.secrets,
          {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { namespace: CONTROL_PLANE, name: 'ref-a' },
            type,
            data: { [key]: Buffer.from('{}').toString('base64') },
          },
          { fieldManager: 'gardener' },
        );
      await copy('Opaque', 'config.json');
      await stage.reconcileShoot(parts);
      await stage.untilReady();
      await stage.seed.delete(resources.secrets, { namespace: CONTROL_PLANE, name: 'ref-a' });
      await copy('kubernetes.io/dockerconfigjson', '.dockerconfigjson');
      await stage.reconcileShoot(parts);
      await stage.untilReady();
      expect(await stage.shoot.find(resources.secrets, inFlux('a'))).toMatchObject({
        type: 'kubernetes.io/dockerconfigjson',
      });
    });

    it('delivers a copy of a Secret that Gardener refreshes only after the operation', async () => {
      const name = { namespace: CONTROL_PLANE, name: 'ref-a' };
      const data = (text: string) => ({ key: Buffer.from(text).toString('base64') });
      const copy = { apiVersion: 'v1', kind: 'Secret', metadata: name, data: data('old') };
      await stage.seed.create(resources.secrets, copy, { fieldManager: 'gardener' });
      await stage.reconcileShoot({
        spec: { resources: [{ name: 'creds', resourceRef: { apiVersion: 'v1', kind: 'Secret', name: 'a' } }] },
        providerConfig: config({ additionalSecretResources: [{ name: 'creds' }] }),
      });
      await stage.untilReady();
      await stage.seed.mergePatch(resources.secrets, name, { data: data('new') }, { fieldManager: 'gardener' });
      await eventually(
        'the new content',
        () => stage.shoot.find(resources.secrets, inFlux('a')),
        (live) => JSON.stringify(live?.data) === JSON.stringify(data('new')),
      );
    });

    it('follows a changed namespace and a deleted configuration before the first success', async () => {
      await stage.reconcileShoot({ providerConfig: config({}) });
      await stage.untilReady();
      await stage.reconcileShoot({ providerConfig: config({ flux: { namespace: 'elsewhere' } }) });
      for (const component of [...core, 'helm-controller', 'notification-controller']) {
        await collect(resources.deployments, component);
      }
      await stage.untilReady();
      const elsewhere = { namespace: 'elsewhere', name: 'flux-system' };
      expect(await stage.shoot.find(kustomizations, elsewhere)).toBeDefined();
      expect(await stage.shoot.find(kustomizations, inFlux('flux-system'))).toBeUndefined();
      const seen = await watchDeletion(stage, 'elsewhere');
      await stage.reconcileShoot({ providerConfig: { flux: { namespace: 'elsewhere' } } });
      await eventually(
        'nothing is synchronised',
        () => stage.managedResources(),
        (live) => live['shoot-flux-sync'] === undefined,
      );
      await stage.untilReady();
      expect(await seen.untilDeleted()).toEqual([true]);
      expect(await stage.shoot.find(kustomizations, elsewhere)).toBeUndefined();
      expect(await stage.shoot.find(resources.namespaces, { name: 'flux-system' })).toBeDefined();
    });

    it('creates a claim once, keeps it without storage, and deletes the one in use with Flux', async () => {
      const deliver = async (flux: object) => {
        await stage.reconcileShoot({
          providerConfig: config({ syncMode: 'Reconcile', deletionPolicy: 'Uninstall', flux }),
        });
        await stage.untilReady();
        await quiet(stage);
      };
      // A real API server protects it until a controller sees that no Pod uses it.
      const claim = async () => {
        const live = await stage.shoot.find(claims, inFlux('source-controller'));
        return live?.metadata.deletionTimestamp === undefined ? live?.spec : undefined;
      };
      const sizeOf = (storage: string) => ({ resources: { requests: { storage } } });
      await deliver({ storage: { size: '1Gi' } });
      expect(await claim()).toMatchObject(sizeOf('1Gi'));
      // An API server refuses another size or class of most claims.
      await deliver({ storage: { size: '2Gi' } });
      expect(await claim()).toMatchObject(sizeOf('1Gi'));
      await deliver({});
      expect(await claim()).toMatchObject(sizeOf('1Gi'));
      await deliver({ storage: { size: '2Gi' } });
      await stage.deleteExtension();
      await eventually('the claim is gone', claim, (spec) => spec === undefined);
    });

    it.each([
      ['a configuration without it is followed again', 'Reconcile', false],
      ['a mode that follows it was refused before', 'ManifestsOnly', true],
    ])('keeps what mode Once has released to the user, when %s', async (_, mode, isRefusedFirst) => {
      const follow = async (names: string[], parts: Record<string, unknown>) => {
        await stage.reconcileShoot({ providerConfig: withKustomizations(names, parts) });
        await stage.untilReady();
        await quiet(stage);
      };
      const both = ['flux-system', 'apps'];
      await follow(both, { syncMode: mode });
      await stage.markReady([kustomizations, 'apps']);
      await untilBootstrapped();
      await follow(both, { syncMode: 'Once' });
      if (isRefusedFirst) {
        await follow(both, { syncMode: mode, flux: { namespace: 'elsewhere' } });
        expect((await stage.extension()).status?.state?.applied?.problem).toContain('flux.namespace cannot change');
      }
      await follow(['flux-system'], { syncMode: mode });
      const kept = await stage.shoot.find(kustomizations, inFlux('apps'));
      expect(kept?.metadata).not.toHaveProperty('deletionTimestamp');
      expect(kept?.spec).toMatchObject({ path: './apps', prune: true });
      expect(kept?.spec).not.toHaveProperty('suspend');
    });

    it('triggers the webhook again where the resource-manager may not write, and reports it', async () => {
      await stage.stopResourceManager();
      await stage.startResourceManager(['kube-system']);
      const name = { namespace: CONTROL_PLANE, name: 'gardener-resource-manager' };
      await stage.seed.create(resources.deployments, deployment(name), { fieldManager });
      await stage.reconcileShoot({ providerConfig: config({}) });
      const failed = await eventually(
        'the error',
        stage.extension,
        ({ status }) => status?.lastError != null,
        ({ status }) => status,
      );
      expect(failed.status?.lastError?.description).toContain('--extra-target-namespace=flux-system');
      const asked = stage.requests.filter(({ resource }) => resource === 'deployments.apps');
      expect(asked.map(({ identity, method, status }) => `${identity} ${method} ${status}`)).toContain(
        'managed-resources PATCH 200',
      );
    });

    it('replaces a source by one of another kind', async () => {
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      const spec = { bucketName: 'fleet', endpoint: 's3.example.com' };
      const metadata = { namespace: 'elsewhere' };
      const source = { template: { kind: 'Bucket', metadata, spec } };
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile', source }) });
      await eventually(
        'the former source is gone',
        () => stage.shoot.find(gitRepositories, inFlux('flux-system')),
        (live) => live === undefined,
      );
      await stage.untilReady();
      const buckets = { ...gitRepositories, plural: 'buckets', kind: 'Bucket' };
      expect((await stage.shoot.find(buckets, { namespace: 'elsewhere', name: 'flux-system' }))?.spec).toMatchObject(
        spec,
      );
      expect((await stage.shoot.find(kustomizations, inFlux('flux-system')))?.spec).toMatchObject({
        sourceRef: { kind: 'Bucket', name: 'flux-system', namespace: 'elsewhere' },
      });
    });

    it('mode Once: keeps the credentials of a source that stays in the shoot', async () => {
      const syncMode = 'Once';
      await stage.setFluxConfig({
        repositoryUrl: 'ssh://git@github.com/org/fleet',
        ...{ repositoryType: 'private', syncMode },
      });
      await stage.reconcileShoot();
      await stage.untilReady();
      await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
      await eventually(
        'Flux is released',
        () => stage.managedResources(),
        (live) => Object.keys(live).join() === 'shoot-flux-secrets',
      );
      await stage.setFluxConfig({ repositoryUrl: 'https://github.com/org/fleet', syncMode });
      await stage.reconcileShoot();
      await stage.untilReady();
      await quiet(stage);
      expect((await stage.shoot.find(gitRepositories, inFlux('main-gitrepo')))?.spec).toMatchObject({
        secretRef: { name: 'flux-source' },
      });
      expect(await stage.shoot.find(resources.secrets, inFlux('flux-source'))).toBeDefined();
    });

    const annotate = (operation: string) =>
      stage.seed.mergePatch(
        resources.extensions,
        extensionName,
        { metadata: { annotations: { 'gardener.cloud/operation': operation } } },
        { fieldManager },
      );
  });
}

function config(parts: Record<string, unknown>, branch = 'main'): Record<string, unknown> {
  return {
    apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
    kind: 'FluxConfig',
    source: { template: { kind: 'GitRepository', spec: { url: 'https://git.example.com/a', ref: { branch } } } },
    kustomization: { template: { spec: { path: './', prune: true } } },
    ...parts,
  };
}

function withKustomizations(names: readonly string[], parts: Record<string, unknown>): Record<string, unknown> {
  const list = names.map((name) => ({ template: { metadata: { name }, spec: { path: `./${name}`, prune: true } } }));
  return { ...config({ ...parts, kustomizations: list }), kustomization: undefined };
}

function deployment(metadata: { namespace: string; name: string }): KubeObject {
  const labels = { app: 'gardener-resource-manager' };
  const containers = [{ name: 'gardener-resource-manager', image: 'example.com/gardener/resource-manager:v1.147.0' }];
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
}

/** Records for every Kustomization of a namespace that is deleted from now on whether it was suspended. */
async function watchDeletion(stage: Stage, namespace: string): Promise<{ untilDeleted(): Promise<boolean[]> }> {
  const ending = new AbortController();
  const suspended: boolean[] = [];
  const { resourceVersion } = await stage.shoot.list(kustomizations, { namespace });
  const watching = (async () => {
    const options = { namespace, resourceVersion, timeoutSeconds: 60, signal: ending.signal };
    for await (const { type, object } of stage.shoot.watch(kustomizations, options)) {
      if (type === 'DELETED') suspended.push((object.spec as { suspend?: boolean } | undefined)?.suspend === true);
    }
  })().catch(() => undefined);
  return {
    async untilDeleted() {
      await eventually(
        'the deletion',
        async () => suspended,
        ({ length }) => length > 0,
      );
      ending.abort();
      await watching;
      return suspended;
    },
  };
}
