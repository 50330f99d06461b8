import { setTimeout as sleep } from 'node:timers/promises';
import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { objectRef } from '../../functions/managed-resources/objects.ts';
import type { Extension } from '../../shared/gardener/types.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { onApisOfEachTest } from './around-each-test.ts';
import { quiet } from './main-job.ts';
import { type Apis, CONTROL_PLANE, eventually, type Stage, type StageOptions } from './stage.ts';

const fieldManager = 'person';
const claims: Resource = {
  ...{ group: '', version: 'v1', plural: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', namespaced: true },
};
const url = 'https://git.example.com/a';
const inFlux = (name: string) => ({ namespace: 'flux-system', name });

/** Delivery without the resource-manager, on embedded or real API servers. */
export function directSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, () => {
    const startOn = onApisOfEachTest(startApis, fluxDistribution);
    let stage: Stage;

    const start = async (options: StageOptions) => {
      stage = await startOn(options);
    };
    const bootstrap = async () => {
      await stage.markReady([gitRepositories, 'flux-system'], [kustomizations, 'flux-system']);
      await eventually('the first success', stage.extension, ({ status }) => status?.state?.bootstrapped !== undefined);
    };

    it('Direct: delivers everything to the shoot and writes nothing into the control plane', async () => {
      await start({ delivery: 'Direct' });
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      const { status } = await stage.untilReady();
      expect(await stage.managedResources()).toEqual({});
      expect(status?.state?.applied).toMatchObject({ delivery: 'Direct' });
      expect(await stage.shoot.find(resources.deployments, inFlux('source-controller'))).toBeDefined();
      expect((await stage.shoot.find(kustomizations, inFlux('flux-system')))?.spec).toMatchObject({ path: './' });
      await bootstrap();
    });

    it('Direct: corrects drift in a second reconciliation, and otherwise writes nothing', async () => {
      await start({ delivery: 'Direct' });
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      await bootstrap();
      await quiet(stage);
      const before = await versions(stage);
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      await quiet(stage);
      expect(await versions(stage)).toEqual(before);

      const drift = { spec: { interval: '23h' } };
      await stage.shoot.mergePatch(kustomizations, inFlux('flux-system'), drift, { fieldManager });
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      const live = await stage.shoot.find(kustomizations, inFlux('flux-system'));
      expect(live?.spec).toMatchObject({ interval: '1m' });
    });

    it('Direct: leaves replicas to an autoscaler, and reverts manual scaling', async () => {
      await start({ delivery: 'Direct' });
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kustomize-controller' };
      const autoscaler = {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: inFlux('kustomize-controller'),
        spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 3 },
      };
      await stage.shoot.create(resources.horizontalPodAutoscalers, autoscaler, { fieldManager });
      const scale = (name: string, replicas: number, manager: string) =>
        stage.shoot.mergePatch(resources.deployments, inFlux(name), { spec: { replicas } }, { fieldManager: manager });
      await scale('kustomize-controller', 3, 'kube-controller-manager');
      await scale('source-controller', 0, fieldManager);
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      const replicas = async (name: string) =>
        (await stage.shoot.find(resources.deployments, inFlux(name)))?.spec as { replicas?: number };
      expect(await replicas('kustomize-controller')).toMatchObject({ replicas: 3 });
      expect(await replicas('source-controller')).toMatchObject({ replicas: 1 });
    });

    it('Direct: removes stray fields like the resource-manager, and keeps fields that others apply', async () => {
      const gitRepository = (ref: Record<string, string>) => ({
        template: { kind: 'GitRepository', spec: { url, ref } },
      });
      const before = config({ syncMode: 'Reconcile', suspend: true, source: gitRepository({ tag: 'v1' }) });
      // At first the resource-manager owns all of its fields.
      for (const delivery of ['ManagedResource', 'Direct'] as const) {
        await start({ delivery });
        await stage.reconcileShoot({ providerConfig: before });
        await stage.untilReady();
        if (delivery === 'ManagedResource') await stage[Symbol.asyncDispose]();
      }
      const inPassing = { spec: { wait: true } };
      await stage.shoot.mergePatch(kustomizations, inFlux('flux-system'), inPassing, { fieldManager });
      const theirs = {
        apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
        kind: 'Kustomization',
        metadata: inFlux('flux-system'),
        spec: { decryption: { provider: 'sops' } },
      };
      await stage.shoot.apply(kustomizations, theirs, { fieldManager });
      const after = config({ syncMode: 'Reconcile', source: gitRepository({ branch: 'main' }) });
      await stage.reconcileShoot({ providerConfig: after });
      await stage.untilReady();
      const source = await stage.shoot.find(gitRepositories, inFlux('flux-system'));
      expect(source?.spec).toMatchObject({ ref: { branch: 'main' } });
      expect(source?.spec).not.toHaveProperty('ref.tag');
      expect(source?.spec).not.toHaveProperty('suspend');
      const root = await stage.shoot.find(kustomizations, inFlux('flux-system'));
      expect(root?.spec).toMatchObject({ path: './', decryption: { provider: 'sops' } });
      expect(root?.spec).not.toHaveProperty('wait');
      expect(root?.spec).not.toHaveProperty('suspend');
    });

    it('Direct: deletes only objects that carry our mark', async () => {
      await start({ delivery: 'Direct' });
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      const name = inFlux('notification-controller');
      const ours = await stage.shoot.find(resources.deployments, name);
      await stage.shoot.delete(resources.deployments, name);
      await stage.shoot
        .mergePatch(resources.deployments, name, { metadata: { finalizers: null } }, { fieldManager })
        .catch(() => {});
      const theirs = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: name, spec: ours?.spec };
      await stage.shoot.create(resources.deployments, theirs, { fieldManager });
      const flux = { components: ['source-controller', 'kustomize-controller', 'helm-controller'] };
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile', flux }) });
      await stage.untilReady();
      const accounts = {
        group: '',
        version: 'v1',
        plural: 'serviceaccounts',
        kind: 'ServiceAccount',
        namespaced: true,
      };
      expect(await stage.shoot.find(accounts, name)).toBeUndefined();
      expect((await stage.shoot.find(resources.deployments, name))?.metadata).not.toHaveProperty('deletionTimestamp');
    });

    it.each(['Direct', 'ManagedResource'] as const)(
      '%s: creates a claim once, keeps it without storage, and deletes the one in use with Flux',
      async (delivery) => {
        await start({ delivery });
        const deliver = async (flux: object) => {
          const providerConfig = config({ syncMode: 'Reconcile', deletionPolicy: 'Uninstall', flux });
          await stage.reconcileShoot({ providerConfig });
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
      },
    );

    it('Direct: suspends removed objects before it deletes them', async () => {
      await start({ delivery: 'Direct' });
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      await bootstrap();
      const finalizers = ['finalizers.fluxcd.io'];
      const root = inFlux('flux-system');
      await stage.shoot.mergePatch(kustomizations, root, { metadata: { finalizers } }, { fieldManager });
      const other = { template: { metadata: { name: 'other' }, spec: { path: './', prune: true } } };
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile', kustomization: other }) });
      const leaving = await eventually(
        'the former Kustomization is deleted',
        () => stage.shoot.find(kustomizations, root),
        (live) => live?.metadata.deletionTimestamp !== undefined,
      );
      expect(leaving?.spec).toMatchObject({ suspend: true });
      await stage.shoot.mergePatch(kustomizations, root, { metadata: { finalizers: null } }, { fieldManager });
      await eventually(
        'no removal is pending',
        stage.extension,
        ({ status }) => status?.state?.applied?.leaving === undefined,
      );
      expect(await stage.shoot.find(kustomizations, inFlux('other'))).toBeDefined();
    });

    it.each(['Direct', 'ManagedResource'] as const)(
      '%s: keeps what mode Once has released to the user, when a configuration without it is followed again',
      async (delivery) => {
        await start({ delivery });
        const follow = async (syncMode: string, ...names: string[]) => {
          await stage.reconcileShoot({ providerConfig: withKustomizations(names, { syncMode }) });
          await stage.untilReady();
          await quiet(stage);
        };
        await follow('Reconcile', 'flux-system', 'apps');
        await stage.markReady([kustomizations, 'apps']);
        await bootstrap();
        await follow('Once', 'flux-system', 'apps');
        await follow('Reconcile', 'flux-system');
        const kept = await stage.shoot.find(kustomizations, inFlux('apps'));
        expect(kept?.metadata).not.toHaveProperty('deletionTimestamp');
        expect(kept?.spec).toMatchObject({ path: './apps', prune: true });
        expect(kept?.spec).not.toHaveProperty('suspend');
      },
    );

    it('Direct: keeps what mode Once has released, also when a mode that follows it was refused before', async () => {
      await start({ delivery: 'Direct' });
      const follow = async (names: string[], parts: Record<string, unknown>) => {
        await stage.reconcileShoot({ providerConfig: withKustomizations(names, parts) });
        await stage.untilReady();
        await quiet(stage);
      };
      const both = ['flux-system', 'apps'];
      await follow(both, { syncMode: 'ManifestsOnly' });
      await stage.markReady([kustomizations, 'apps']);
      await bootstrap();
      await follow(both, { syncMode: 'Once' });
      await follow(both, { syncMode: 'ManifestsOnly', flux: { namespace: 'elsewhere' } });
      expect((await stage.extension()).status?.state?.applied?.problem).toContain('flux.namespace cannot change');
      await follow(['flux-system'], { syncMode: 'ManifestsOnly' });
      const kept = await stage.shoot.find(kustomizations, inFlux('apps'));
      expect(kept?.metadata).not.toHaveProperty('deletionTimestamp');
      expect(kept?.spec).not.toHaveProperty('suspend');
    });

    it('Direct: reports a refusal of the shoot in one sentence with a retryable code, and recovers once it is fixed', async () => {
      await start({ delivery: 'Direct' });
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'flux-system' } };
      await stage.shoot.create(resources.namespaces, namespace, { fieldManager });
      const name = inFlux('shoot-info');
      const taken = { apiVersion: 'v1', kind: 'ConfigMap', metadata: name, data: { a: 'b' }, immutable: true };
      await stage.shoot.create(resources.configMaps, taken, { fieldManager });
      await stage.reconcileShoot({ providerConfig: config({}) });
      const failed = await eventually(
        'the error',
        stage.extension,
        ({ status }) => status?.lastError != null,
        ({ status }) => status,
      );
      expect(failed.status?.lastError).toMatchObject({
        description: expect.stringContaining('flux-system/shoot-info'),
        codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
      });
      // Otherwise the next version could be older than the CRDs in the shoot.
      const { delivered, managedResources } = failed.status?.state?.applied ?? {};
      const { 'shoot-flux-crds': crds, 'shoot-flux-controllers': controllers } = managedResources ?? {};
      expect(delivered).toEqual({ 'shoot-flux-crds': crds, 'shoot-flux-controllers': controllers });
      await stage.shoot.delete(resources.configMaps, name);
      await stage.reconcileShoot({ providerConfig: config({}) });
      await stage.untilReady();
    });

    it('Direct: keeps a reported error until the shoot accepts the objects or the configuration changes', async () => {
      await start({ delivery: 'Direct' });
      await holdInDeletion(stage, 'flux-system');
      await stage.reconcileShoot({ providerConfig: config({}) });
      const isFailed = ({ status }: Extension) => status?.lastOperation?.state === 'Error';
      const failed = await eventually('the error', stage.extension, isFailed, ({ status }) => status);
      const before = runsOf(stage);
      const secret = { apiVersion: 'v1', kind: 'Secret', name: 'unused' };
      await stage.writeCluster({ spec: { resources: [{ name: 'unused', resourceRef: secret }] } });
      await eventually(
        'another run',
        async () => runsOf(stage),
        (runs) => runs > before,
      );
      await sleep(3_000);
      const reported = ({ status }: Extension) => [status?.lastOperation, status?.lastError];
      expect(reported(await stage.extension())).toEqual(reported(failed));
    });

    it('Auto: delivers directly where the resource-manager may not write, and remembers it', async () => {
      await start({ delivery: 'Auto', targetNamespaces: ['kube-system'] });
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      const extension = await eventually(
        'Flux is delivered',
        stage.extension,
        ({ status }) => status?.lastOperation?.state === 'Succeeded',
        ({ status }) => status,
      );
      expect(extension.status?.state?.applied).toMatchObject({ delivery: 'Direct' });
      expect(await stage.managedResources()).toEqual({});
      const { items } = await stage.seed.list(resources.secrets, { namespace: CONTROL_PLANE, metadataOnly: true });
      expect(items.map(({ metadata }) => metadata.name)).toEqual(['gardener']);
      expect(await stage.shoot.find(resources.deployments, inFlux('source-controller'))).toBeDefined();
      await bootstrap();
    });

    it('ManagedResource: triggers the webhook again where the resource-manager may not write, and reports it', async () => {
      await start({ delivery: 'ManagedResource', targetNamespaces: ['kube-system'] });
      const name = { namespace: CONTROL_PLANE, name: 'gardener-resource-manager' };
      await stage.seed.create(resources.deployments, deployment(name), { fieldManager });
      await stage.reconcileShoot({ providerConfig: config({}) });
      const failed = await eventually(
        'the error',
        stage.extension,
        ({ status }) => status?.lastError != null,
        ({ status }) => status,
        60,
      );
      expect(failed.status?.lastError?.description).toContain('--extra-target-namespace=flux-system');
      const asked = stage.requests.filter(({ resource }) => resource === 'deployments.apps');
      expect(asked.map(({ identity, method, status }) => `${identity} ${method} ${status}`)).toContain(
        'managed-resources PATCH 200',
      );
    });

    it('Auto: delivers by the resource-manager where it may write', async () => {
      await start({ delivery: 'Auto' });
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      const { status } = await stage.untilReady();
      expect(status?.state?.applied).not.toHaveProperty('delivery');
      expect(Object.keys(await stage.managedResources())).toHaveLength(4);
    });

    it('removes the old Kustomization when Direct becomes ManagedResource with another name', async () => {
      await start({ delivery: 'Direct' });
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      await stage[Symbol.asyncDispose]();
      await start({ delivery: 'ManagedResource' });
      const kustomization = { template: { metadata: { name: 'other' }, spec: { path: './', prune: true } } };
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile', kustomization }) });
      await eventually(
        'the ManagedResources are there',
        async () => Object.keys(await stage.managedResources()).length,
        (count) => count === 4,
      );
      await stage.untilReady();
      expect(await stage.shoot.find(kustomizations, inFlux('flux-system'))).toBeUndefined();
      expect(await stage.shoot.find(kustomizations, inFlux('other'))).toBeDefined();
    });

    it('reports a refusal of the shoot during a change from Direct to ManagedResource, without hot retries', async () => {
      await start({ delivery: 'Direct' });
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      const frozen = { data: { a: 'b' }, immutable: true };
      await stage.shoot.mergePatch(resources.configMaps, inFlux('shoot-info'), frozen, { fieldManager });
      await stage[Symbol.asyncDispose]();
      await start({ delivery: 'ManagedResource' });
      const kustomization = { template: { metadata: { name: 'other' }, spec: { path: './', prune: true } } };
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile', kustomization }) });
      const isFailed = ({ status }: Extension) => status?.lastOperation?.state === 'Error';
      await eventually('the error', stage.extension, isFailed, ({ status }) => status);
      const before = runsOf(stage);
      await sleep(15_000);
      expect((await stage.extension()).status?.lastOperation?.state).toBe('Error');
      expect(runsOf(stage) - before).toBeLessThan(2);
    });

    it('deletes nothing in the shoot when the delivery changes and changes back', async () => {
      await start({ delivery: 'ManagedResource' });
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      await bootstrap();
      const uids = await identities(stage);
      for (const delivery of ['Direct', 'ManagedResource'] as const) {
        await stage[Symbol.asyncDispose]();
        await start({ delivery });
        await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
        await stage.untilReady();
        await eventually(
          `the ManagedResources fit ${delivery}`,
          async () => Object.keys(await stage.managedResources()).length,
          (count) => count === (delivery === 'Direct' ? 0 : 4),
        );
        expect(await identities(stage)).toEqual(uids);
      }
    });
  });
}

/** Leaves a namespace of the shoot in deletion: nothing can be created in it. */
async function holdInDeletion({ shoot }: Stage, name: string): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await shoot.apply(resources.namespaces, namespace, { fieldManager });
  const metadata = { namespace: name, name: 'held', finalizers: ['example.com/held'] };
  await shoot.create(resources.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata }, { fieldManager });
  await shoot.delete(resources.namespaces, { name });
}

/** How many runs of `managed-resources` have begun. */
function runsOf({ requests }: Stage): number {
  const reads = requests.filter(({ method, resource }) => method === 'GET' && resource.startsWith('extensions'));
  return reads.filter(({ identity }) => identity === 'managed-resources').length;
}

function deployment(metadata: { namespace: string; name: string }): KubeObject {
  const labels = { app: 'gardener-resource-manager' };
  const containers = [{ name: 'gardener-resource-manager', image: 'example.com/gardener/resource-manager:v1.147.0' }];
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
}

const listed: Resource[] = [
  resources.customResourceDefinitions,
  resources.deployments,
  resources.configMaps,
  gitRepositories,
  kustomizations,
];

async function fluxObjects(stage: Stage) {
  const lists = await Promise.all(listed.map((resource) => stage.shoot.list(resource, { metadataOnly: true })));
  const isFlux = ({ namespace, name }: { namespace?: string; name: string }) =>
    namespace === 'flux-system' || name.endsWith('.fluxcd.io');
  return lists.flatMap(({ items }) => items).filter(({ metadata }) => isFlux(metadata));
}

async function versions(stage: Stage): Promise<Record<string, string | undefined>> {
  const objects = await fluxObjects(stage);
  return Object.fromEntries(objects.map((object) => [objectRef(object), object.metadata.resourceVersion]));
}

async function identities(stage: Stage): Promise<Record<string, string | undefined>> {
  const objects = await fluxObjects(stage);
  return Object.fromEntries(objects.map((object) => [objectRef(object), object.metadata.uid]));
}

function config(parts: Record<string, unknown>): Record<string, unknown> {
  return {
    apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
    kind: 'FluxConfig',
    source: {
      template: { kind: 'GitRepository', spec: { url, ref: { branch: 'main' } } },
    },
    kustomization: { template: { spec: { path: './', prune: true } } },
    ...parts,
  };
}

function withKustomizations(names: readonly string[], parts: Record<string, unknown>): Record<string, unknown> {
  const kustomizations = names.map((name) => ({
    template: { metadata: { name }, spec: { path: `./${name}`, prune: true } },
  }));
  return { ...config({ ...parts, kustomizations }), kustomization: undefined };
}
