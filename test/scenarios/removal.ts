import { gitRepositories, helmReleases, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { aroundEachTest } from './around-each-test.ts';
import { quiet } from './main-job.ts';
import { type Apis, CONTROL_PLANE, eventually, type Stage } from './stage.ts';

const serviceAccounts: Resource = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
};
const certificates: Resource = {
  group: 'example.com',
  version: 'v1',
  plural: 'certificates',
  kind: 'Certificate',
  namespaced: true,
};
const certificateCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'certificates.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'certificates', singular: 'certificate', kind: 'Certificate', listKind: 'CertificateList' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
const fieldManager = 'person';
const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const inApps = (name: string) => ({ namespace: 'apps', name });
const finalizers = ['finalizers.fluxcd.io'];
const crdOf = ({ plural, group }: Resource) => ({ name: `${plural}.${group}` });

/** Removal of the extension from a Shoot, on embedded or real API servers. */
export function removalSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    /** Flux is running and has deployed a workload through a nested Kustomization and a HelmRelease. */
    const live = async (config: Record<string, unknown>) => {
      await stage.reconcileShoot({ providerConfig: { ...repository, ...config } });
      await stage.untilReady();
      await stage.markReady([gitRepositories, 'flux-system'], [kustomizations, 'flux-system']);
      await eventually('the first success', stage.extension, ({ status }) => status?.state?.bootstrapped !== undefined);
      for (const [resource, object] of deployedByFlux) await stage.shoot.create(resource, object, { fieldManager });
      const root = { metadata: { finalizers } };
      await stage.shoot.mergePatch(kustomizations, inFlux('flux-system'), root, { fieldManager });
    };
    const leave = async () => {
      await stage.deleteExtension();
      await eventually(
        'the Extension is gone',
        async () => (await stage.extension().catch(() => undefined))?.status?.lastOperation ?? 'gone',
        (last) => last === 'gone',
      );
      expect(await stage.managedResources()).toEqual({});
    };
    const expectFluxStays = async () => {
      expect(await stage.shoot.find(resources.deployments, inFlux('source-controller'))).toBeDefined();
      for (const [resource, name] of [
        [kustomizations, inFlux('flux-system')],
        [kustomizations, inApps('nested')],
        [helmReleases, inApps('chart')],
      ] as const) {
        const object = await stage.shoot.find(resource, name);
        expect(object?.metadata).not.toHaveProperty('deletionTimestamp');
        expect(object?.spec).not.toHaveProperty('suspend');
      }
    };
    const expectFluxIsGone = async () => {
      for (const resource of [kustomizations, helmReleases, gitRepositories]) {
        expect(await stage.shoot.find(resources.customResourceDefinitions, crdOf(resource))).toBeUndefined();
      }
      expect(await stage.shoot.find(resources.deployments, inFlux('source-controller'))).toBeUndefined();
      expect(await stage.shoot.find(serviceAccounts, inFlux('kustomize-controller'))).toBeUndefined();
      expect(await stage.shoot.find(resources.configMaps, inFlux('shoot-info'))).toBeUndefined();
      const workload = await stage.shoot.find(resources.deployments, inApps('podinfo'));
      expect(workload?.metadata).not.toHaveProperty('deletionTimestamp');
    };

    it('Uninstall, the default while we manage Flux: removes all of Flux and keeps what it deployed', async () => {
      await live({ syncMode: 'Reconcile' });
      const seen = await watchSpecs(stage);
      await leave();
      await expectFluxIsGone();
      const namespace = await stage.shoot.find(resources.namespaces, { name: 'flux-system' });
      expect(namespace === undefined || namespace.metadata.deletionTimestamp !== undefined).toBe(true);
      // Each was suspended when it was deleted: nothing is pruned, no Helm release uninstalled.
      expect(seen()).toEqual({ 'apps/chart': true, 'apps/nested': true, 'flux-system/flux-system': true });
    });

    it('trap 26: releases ManagedResources without an Extension, and keeps Flux', async () => {
      await live({ syncMode: 'Reconcile' });
      await quiet(stage);
      await stage.stopProduct();
      const name = { namespace: CONTROL_PLANE, name: 'shoot-flux' };
      await stage.seed.mergePatch(resources.extensions, name, { metadata: { finalizers: null } }, { fieldManager });
      await stage.deleteExtension();
      expect(await stage.seed.find(resources.extensions, name)).toBeUndefined();
      expect(Object.keys(await stage.managedResources())).toHaveLength(4);
      await stage.startProduct();
      const ours = { namespace: CONTROL_PLANE, labelSelector: 'origin=shoot-flux' };
      await eventually(
        'nothing of ours is left',
        async () => {
          const secrets = await stage.seed.list(resources.secrets, ours);
          const names = secrets.items.map(({ metadata }) => metadata.name);
          return [...Object.keys(await stage.managedResources()), ...names];
        },
        (left) => left.length === 0,
      );
      await expectFluxStays();
    });

    it('Uninstall after the mode released Flux: removes what the record lists', async () => {
      await live({ syncMode: 'Once', deletionPolicy: 'Uninstall' });
      await eventually(
        'Flux is released',
        () => stage.managedResources(),
        (managed) => Object.keys(managed).join() === 'shoot-flux-secrets',
      );
      await leave();
      await expectFluxIsGone();
    });

    it('Uninstall keeps a namespace that holds objects of the user', async () => {
      await live({ syncMode: 'Reconcile' });
      const key = { apiVersion: 'v1', kind: 'Secret', metadata: inFlux('sops-age'), data: {} };
      await stage.shoot.create(resources.secrets, key, { fieldManager });
      await leave();
      await expectFluxIsGone();
      const namespace = await stage.shoot.find(resources.namespaces, { name: 'flux-system' });
      expect(namespace?.metadata).toBeDefined();
      expect(namespace?.metadata).not.toHaveProperty('deletionTimestamp');
      expect(await stage.shoot.find(resources.secrets, inFlux('sops-age'))).toBeDefined();
    });

    it('Uninstall keeps a namespace with a custom resource that Flux deployed', async () => {
      await live({ syncMode: 'Reconcile' });
      await stage.shoot.create(resources.customResourceDefinitions, certificateCrd, { fieldManager });
      const certificate = { apiVersion: 'example.com/v1', kind: 'Certificate', metadata: inFlux('web') };
      await eventually(
        'certificates are served',
        () => stage.shoot.create(certificates, certificate, { fieldManager }).catch(() => undefined),
        (created) => created !== undefined,
      );
      await leave();
      await expectFluxIsGone();
      const namespace = await stage.shoot.find(resources.namespaces, { name: 'flux-system' });
      expect(namespace?.metadata).toBeDefined();
      expect(namespace?.metadata).not.toHaveProperty('deletionTimestamp');
      expect(await stage.shoot.find(certificates, inFlux('web'))).toBeDefined();
    });

    it('Uninstall waits for the controllers to end before it removes any finalizer', async () => {
      await live({ syncMode: 'Reconcile' });
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...inFlux('kustomize-controller-1'), labels: { app: 'kustomize-controller' } },
        spec: { containers: [{ name: 'manager', image: 'example.com/manager:v1' }] },
      };
      await stage.shoot.create(pods, pod, { fieldManager });
      await stage.deleteExtension();
      await eventually(
        'it waits',
        stage.extension,
        ({ status }) => status?.lastOperation?.description.includes('controllers') === true,
        ({ status }) => status,
      );
      // A last attempt of the resource-manager may have recreated it once.
      await eventually(
        'the Deployment is gone',
        () => stage.shoot.find(resources.deployments, inFlux('kustomize-controller')),
        (deployment) => deployment === undefined,
      );
      const nested = await stage.shoot.find(kustomizations, inApps('nested'));
      expect(nested).toMatchObject({ metadata: { finalizers }, spec: { suspend: true } });
      await stage.shoot.delete(pods, inFlux('kustomize-controller-1'));
      await leave();
      await expectFluxIsGone();
    });

    it('removes finalizers in a Shoot that is being deleted, so that no CRD waits for a stopped Flux', async () => {
      await live({ syncMode: 'Reconcile' });
      await stage.writeCluster({ metadata: { deletionTimestamp: new Date().toISOString() } });
      await eventually('Flux is released', stage.managedResources, (all) => Object.keys(all).length === 0);
      // gardenlet cleans up.
      const crds = [gitRepositories, kustomizations, helmReleases].map(crdOf);
      for (const crd of crds) await stage.shoot.delete(resources.customResourceDefinitions, crd);
      await eventually(
        'the CRDs are gone',
        () => Promise.all(crds.map((crd) => stage.shoot.find(resources.customResourceDefinitions, crd))),
        (found) => found.every((crd) => crd === undefined),
        (found) => found.map((crd) => crd?.status),
      );
    });

    it('Orphan, the default after the mode released Flux: keeps Flux running', async () => {
      await live({ syncMode: 'Once' });
      await leave();
      await expectFluxStays();
    });

    it('Orphan by configuration: keeps Flux running', async () => {
      await live({ syncMode: 'Reconcile', deletionPolicy: 'Orphan' });
      await leave();
      await expectFluxStays();
    });

    it('Orphan in a ConfigMap with an unknown key beside it: keeps Flux running', async () => {
      await stage.setFluxConfig({ syncMode: 'Reconcile', deletionPolicy: 'Uninstall' });
      await live({ syncMode: 'Reconcile' });
      await stage.setFluxConfig({ syncMode: 'Reconcile', deletionPolicy: 'Orphan', deletionPolice: 'Orphan' });
      await eventually(
        'the policy is recorded, and the rest of the configuration is rejected',
        stage.extension,
        ({ status }) =>
          status?.state?.applied?.deletionPolicy === 'Orphan' &&
          status.lastError?.description.includes('deletionPolice') === true,
        ({ status }) => status,
      );
      await leave();
      await expectFluxStays();
    });

    it('Orphan in a ConfigMap that was deleted afterwards: keeps Flux running', async () => {
      await stage.setFluxConfig({ deletionPolicy: 'Orphan' });
      await live({ syncMode: 'Reconcile' });
      await stage.setFluxConfig(undefined);
      await eventually(
        'the deletion of the ConfigMap is reported',
        stage.extension,
        ({ status }) => status?.state?.applied?.problem?.includes('flux-config was deleted') === true,
        ({ status }) => status,
      );
      await leave();
      await expectFluxStays();
    });

    it('Orphan that is written while the Shoot is hibernated: is recorded before the Shoot wakes up', async () => {
      await stage.setFluxConfig({ deletionPolicy: 'Uninstall' });
      await live({ syncMode: 'Reconcile' });
      await stage.stopResourceManager();
      await stage.reconcileShoot({
        spec: { hibernation: { enabled: true } },
        status: { hibernated: true },
        providerConfig: { ...repository, syncMode: 'Reconcile' },
      });
      await stage.untilReady();
      await stage.setFluxConfig({ deletionPolicy: 'Orphan' });
      await eventually(
        'the policy is recorded',
        stage.extension,
        ({ status }) => status?.state?.applied?.deletionPolicy === 'Orphan',
        ({ status }) => status?.state?.applied,
      );
      await stage.startResourceManager();
      await stage.writeCluster();
      await leave();
      await expectFluxStays();
    });

    it('keeps Flux in a hibernated Shoot, where no resource-manager runs', async () => {
      await live({ syncMode: 'Reconcile' });
      await stage.stopResourceManager();
      const providerConfig = { ...repository, syncMode: 'Reconcile' };
      await stage.reconcileShoot({
        spec: { hibernation: { enabled: true } },
        status: { hibernated: true },
        providerConfig,
      });
      await stage.untilReady();
      await leave();
      await expectFluxStays();
    });

    it('force deletion contacts neither the shoot nor the resource-manager', async () => {
      await live({ syncMode: 'Reconcile' });
      await stage.stopResourceManager();
      await stage.seed.delete(resources.secrets, { namespace: 'shoot--foo--bar', name: 'gardener' });
      const annotations = { 'confirmation.gardener.cloud/force-deletion': 'true' };
      const metadata = { deletionTimestamp: '2026-01-02T03:04:05Z', annotations };
      await stage.reconcileShoot({ metadata, providerConfig: { ...repository, syncMode: 'Reconcile' } });
      await leave();
      await expectFluxStays();
    });
  });
}

const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

const repository = {
  apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
  kind: 'FluxConfig',
  source: {
    template: { kind: 'GitRepository', spec: { url: 'https://git.example.com/a', ref: { branch: 'main' } } },
  },
  kustomization: { template: { spec: { path: './', prune: true } } },
};

export const deployedByFlux: [Resource, KubeObject][] = [
  [resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apps' } }],
  [
    kustomizations,
    {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { ...inApps('nested'), finalizers } as KubeObject['metadata'],
      spec: { interval: '5m', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: 'a' } },
    },
  ],
  [
    helmReleases,
    {
      apiVersion: 'helm.toolkit.fluxcd.io/v2',
      kind: 'HelmRelease',
      metadata: { ...inApps('chart'), finalizers } as KubeObject['metadata'],
      spec: { interval: '5m', chart: { spec: { chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'a' } } } },
    },
  ],
  [
    resources.deployments,
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        ...inApps('podinfo'),
        labels: { 'kustomize.toolkit.fluxcd.io/name': 'nested', 'kustomize.toolkit.fluxcd.io/namespace': 'apps' },
      },
      spec: {
        selector: { matchLabels: { app: 'podinfo' } },
        template: {
          metadata: { labels: { app: 'podinfo' } },
          spec: { containers: [{ name: 'podinfo', image: 'example.com/podinfo:v1' }] },
        },
      },
    },
  ],
];

/** Records for every Kustomization and HelmRelease that is deleted from now on whether it was suspended. */
export async function watchSpecs(stage: Stage): Promise<() => Record<string, boolean>> {
  const seen: Record<string, boolean> = {};
  for (const resource of [kustomizations, helmReleases]) {
    const { resourceVersion } = await stage.shoot.list(resource);
    const options = { resourceVersion, timeoutSeconds: 60, signal: AbortSignal.timeout(60_000) };
    void (async () => {
      for await (const { type, object } of stage.shoot.watch(resource, options)) {
        const { metadata, spec } = object;
        const isSuspended = (spec as { suspend?: boolean } | undefined)?.suspend === true;
        if (type === 'DELETED') seen[`${metadata.namespace}/${metadata.name}`] = isSuspended;
      }
    })().catch(() => undefined);
  }
  return () => seen;
}
