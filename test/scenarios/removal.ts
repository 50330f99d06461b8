import { gitRepositories, helmReleases, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect, it } from 'vitest';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { stageSuite } from './around-each-test.ts';
import {
  asleep,
  CONTROL_PLANE,
  EXTENSION,
  eventually,
  inControlPlane,
  inFlux,
  providerConfig,
  type Stage,
  smallDeployment,
} from './stage.ts';

const serviceAccounts: Resource = {
  ...{ group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
};
const certificates: Resource = {
  ...{ group: 'example.com', version: 'v1', plural: 'certificates', kind: 'Certificate', namespaced: true },
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
const inApps = (name: string) => ({ namespace: 'apps', name });
const finalizers = ['finalizers.fluxcd.io'];
export const crdOf = ({ plural, group }: Resource) => ({ name: `${plural}.${group}` });

/** Removal of the extension from a Shoot, on embedded or real API servers. */
export const removalSuite = stageSuite((stage) => {
  /** Flux is running and has deployed a workload through a nested Kustomization and a HelmRelease. */
  const live = async (config: Record<string, unknown>) => {
    await stage.deliver({ providerConfig: providerConfig(config) });
    await stage.bootstrap();
    for (const [resource, object] of deployedByFlux) await stage.shoot.create(resource, object, { fieldManager });
    const root = { metadata: { finalizers } };
    await stage.shoot.mergePatch(kustomizations, inFlux('flux-system'), root, { fieldManager });
  };
  const leave = async () => {
    await stage.leave();
    expect(await stage.managedResources()).toEqual({});
  };
  const expectNamespaceStays = async () => {
    const namespace = await stage.shoot.find(resources.namespaces, { name: 'flux-system' });
    expect(namespace?.metadata).toBeDefined();
    expect(namespace?.metadata).not.toHaveProperty('deletionTimestamp');
  };
  const expectFluxStays = async () => {
    expect(await stage.inShoot(resources.deployments, 'source-controller')).toBeDefined();
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

  it('Uninstall, the default while we manage Flux: removes all of Flux and keeps what it deployed', async () => {
    await live({ syncMode: 'Reconcile' });
    const seen = await watchSpecs(stage);
    await leave();
    await expectFluxIsGone(stage);
    const namespace = await stage.shoot.find(resources.namespaces, { name: 'flux-system' });
    expect(namespace === undefined || namespace.metadata.deletionTimestamp !== undefined).toBe(true);
    // Each was suspended when it was deleted: nothing is pruned, no Helm release uninstalled.
    expect(seen()).toEqual({ 'apps/chart': true, 'apps/nested': true, 'flux-system/flux-system': true });
  });

  it('trap 26: releases ManagedResources without an Extension, and keeps Flux', async () => {
    await live({ syncMode: 'Reconcile' });
    await stage.quiet();
    await stage.stopProduct();
    await stage.patchExtension({ metadata: { finalizers: null } });
    await stage.deleteExtension();
    expect(await stage.seed.find(resources.extensions, EXTENSION)).toBeUndefined();
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
    await stage.untilManagedResources('shoot-flux-secrets');
    await leave();
    await expectFluxIsGone(stage);
  });

  it('Uninstall keeps a namespace that holds objects of the user', async () => {
    await live({ syncMode: 'Reconcile' });
    const key = { apiVersion: 'v1', kind: 'Secret', metadata: inFlux('sops-age'), data: {} };
    await stage.shoot.create(resources.secrets, key, { fieldManager });
    await leave();
    await expectFluxIsGone(stage);
    await expectNamespaceStays();
    expect(await stage.inShoot(resources.secrets, 'sops-age')).toBeDefined();
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
    await expectFluxIsGone(stage);
    await expectNamespaceStays();
    expect(await stage.inShoot(certificates, 'web')).toBeDefined();
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
    await stage.untilDescribed('controllers');
    // A last attempt of the resource-manager may have recreated it once.
    await stage.untilInShoot(resources.deployments, 'kustomize-controller', (deployment) => deployment === undefined);
    const nested = await stage.shoot.find(kustomizations, inApps('nested'));
    expect(nested).toMatchObject({ metadata: { finalizers }, spec: { suspend: true } });
    await stage.shoot.delete(pods, inFlux('kustomize-controller-1'));
    await leave();
    await expectFluxIsGone(stage);
  });

  it('removes finalizers in a Shoot that is being deleted, so that no CRD waits for a stopped Flux', async () => {
    await live({ syncMode: 'Reconcile' });
    await stage.writeCluster({ metadata: { deletionTimestamp: new Date().toISOString() } });
    await stage.untilManagedResources();
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

  const managed = { providerConfig: providerConfig({ syncMode: 'Reconcile' }) };
  const hibernate = async () => {
    await stage.stopResourceManager();
    await stage.deliver({ ...asleep, ...managed });
  };

  it.each<[string, Record<string, string>]>([
    ['Orphan, the default after the mode released Flux: keeps Flux running', { syncMode: 'Once' }],
    ['Orphan by configuration: keeps Flux running', { syncMode: 'Reconcile', deletionPolicy: 'Orphan' }],
  ])('%s', async (_, config) => {
    await live(config);
    await leave();
    await expectFluxStays();
  });

  it.each<[string, Record<string, string>, () => Promise<unknown>]>([
    [
      'with an unknown key beside it',
      { syncMode: 'Reconcile', deletionPolicy: 'Uninstall' },
      async () => {
        await stage.setFluxConfig({ syncMode: 'Reconcile', deletionPolicy: 'Orphan', deletionPolice: 'Orphan' });
        await stage.untilError('deletionPolice');
      },
    ],
    [
      'that was deleted afterwards',
      { deletionPolicy: 'Orphan' },
      async () => {
        await stage.setFluxConfig(undefined);
        await stage.until(
          'the report',
          ({ state }) => state?.applied?.problem?.includes('flux-config was deleted') === true,
        );
      },
    ],
    [
      'that is written while the Shoot is hibernated',
      { deletionPolicy: 'Uninstall' },
      async () => {
        await hibernate();
        await stage.setFluxConfig({ deletionPolicy: 'Orphan' });
        await untilOrphan();
        await stage.startResourceManager();
        await stage.writeCluster();
      },
    ],
  ])('Orphan in a ConfigMap %s: is recorded, and keeps Flux running', async (_, data, change) => {
    await stage.setFluxConfig(data);
    await live({ syncMode: 'Reconcile' });
    await change();
    await untilOrphan();
    await leave();
    await expectFluxStays();
  });
  const untilOrphan = () =>
    stage.until('the policy is recorded', ({ state }) => state?.applied?.deletionPolicy === 'Orphan');

  it('keeps Flux in a hibernated Shoot, where no resource-manager runs', async () => {
    await live({ syncMode: 'Reconcile' });
    await hibernate();
    await leave();
    await expectFluxStays();
  });

  it('force deletion contacts neither the shoot nor the resource-manager', async () => {
    await live({ syncMode: 'Reconcile' });
    await stage.stopResourceManager();
    await stage.seed.delete(resources.secrets, inControlPlane('gardener'));
    const annotations = { 'confirmation.gardener.cloud/force-deletion': 'true' };
    const metadata = { deletionTimestamp: '2026-01-02T03:04:05Z', annotations };
    await stage.reconcileShoot({ metadata, ...managed });
    await leave();
    await expectFluxStays();
  });
});

/** Expects that Flux has been removed from the shoot, and nothing that it had deployed. */
export async function expectFluxIsGone({ shoot, inShoot }: Stage): Promise<void> {
  for (const resource of [kustomizations, helmReleases, gitRepositories]) {
    expect(await shoot.find(resources.customResourceDefinitions, crdOf(resource))).toBeUndefined();
  }
  expect(await inShoot(resources.deployments, 'source-controller')).toBeUndefined();
  expect(await inShoot(serviceAccounts, 'kustomize-controller')).toBeUndefined();
  expect(await inShoot(resources.configMaps, 'shoot-info')).toBeUndefined();
  const workload = await shoot.find(resources.deployments, inApps('podinfo'));
  expect(workload).toBeDefined();
  expect(workload?.metadata).not.toHaveProperty('deletionTimestamp');
}

const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

/** A nested Kustomization, a HelmRelease and the workload that Flux has deployed by them. */
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
    smallDeployment(
      {
        ...inApps('podinfo'),
        labels: { 'kustomize.toolkit.fluxcd.io/name': 'nested', 'kustomize.toolkit.fluxcd.io/namespace': 'apps' },
      },
      'podinfo',
      'example.com/podinfo:v1',
    ),
  ],
];

/** Records for every Kustomization and HelmRelease that is deleted from now on whether it was suspended. */
export async function watchSpecs(stage: Stage): Promise<() => Record<string, boolean>> {
  const seen: Record<string, boolean> = {};
  for (const resource of [kustomizations, helmReleases]) {
    const { resourceVersion } = await eventually(
      `${resource.plural} are served`,
      () => stage.shoot.list(resource),
      () => true,
    );
    const options = { resourceVersion, timeoutSeconds: 600, signal: AbortSignal.timeout(600_000) };
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
