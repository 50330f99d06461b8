import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { CONTROL_PLANE, clusterOf, EXTENSION, inControlPlane, inProject, PROJECT, type ShootParts } from '../stage.ts';

/** The actions of users and gardenlet around one Shoot of one project. */
export interface Gardenlet {
  /** Writes ConfigMap `flux-config`; undefined deletes it. */
  fluxConfig(data: Record<string, string> | undefined): void;
  /** Reconciles the Shoot: writes the Cluster, and the Extension with annotation and timestamp. */
  reconcile(parts?: ShootParts): void;
  /** Annotates the Extension. */
  operate(operation: 'migrate' | 'restore'): void;
  /** Deletes the Extension, as when the extension is removed from the Shoot. */
  deleteExtension(): void;
  /** Creates an Extension that waits for its state, as after a migration; the Cluster exists already. */
  createWaiting(providerConfig?: unknown): void;
  /** Writes the state that the former seed's Extension had, and asks for a restoration. */
  restore(status: Record<string, unknown>): void;
  /** Deletes content Secrets that no ManagedResource refers to, as Gardener does every few minutes (trap 27). */
  collectGarbage(): void;
  extension(): KubeObject | undefined;
}

const extensions = 'extensions.gardener.cloud/v1alpha1';
const reference = {
  apiVersion: extensions,
  kind: 'Extension',
  metadata: EXTENSION,
};

interface Options {
  garden: KubeApi;
  seed: KubeApi;
  shoot: KubeApi;
  now(): Date;
  /** Token in the kubeconfig in the control plane. */
  shootToken: string;
}

export function gardenletOf({ garden, seed, shoot, now, shootToken }: Options): Gardenlet {
  garden.objects.ensureNamespace(PROJECT);
  seed.objects.ensureNamespace(CONTROL_PLANE);
  const kubeconfig = Buffer.from(shoot.kubeconfig(shootToken)).toString('base64');
  seed.objects.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: inControlPlane('gardener'),
    data: { kubeconfig },
  } as KubeObject);

  const annotations = (operation: string) => ({
    'gardener.cloud/operation': operation,
    'gardener.cloud/timestamp': now().toISOString(),
  });
  const operate = (operation: string) =>
    void seed.objects.patch(reference, { metadata: { annotations: annotations(operation) } });

  return {
    fluxConfig(data) {
      const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: inProject('flux-config') };
      if (data === undefined) garden.objects.delete(configMap);
      else garden.objects.apply({ ...configMap, data } as KubeObject);
    },
    reconcile(parts = {}) {
      const cluster = clusterOf(parts);
      garden.objects.apply(cluster.spec.shoot as unknown as KubeObject);
      seed.objects.apply(cluster);
      const { providerConfig } = parts;
      const spec = { type: 'shoot-flux', ...(providerConfig === undefined ? {} : { providerConfig }) };
      const metadata = { ...reference.metadata, annotations: annotations('reconcile') };
      seed.objects.apply({ ...reference, metadata, spec } as KubeObject);
    },
    operate,
    deleteExtension: () => void seed.objects.delete(reference),
    createWaiting(providerConfig) {
      const metadata = { ...reference.metadata, annotations: annotations('wait-for-state') };
      const spec = { type: 'shoot-flux', ...(providerConfig === undefined ? {} : { providerConfig }) };
      seed.objects.create({ ...reference, metadata, spec } as KubeObject);
    },
    restore(status) {
      seed.objects.patchStatus(reference, status);
      operate('restore');
    },
    collectGarbage() {
      const managedResources = seed.objects.list('resources.gardener.cloud/v1alpha1', 'ManagedResource');
      const used = new Set(
        managedResources.flatMap(({ metadata }) =>
          Object.values((metadata.annotations ?? {}) as Record<string, string>),
        ),
      );
      for (const secret of seed.objects.list('v1', 'Secret') as KubeObject[]) {
        const { name, labels } = secret.metadata;
        const isGarbage = labels?.['resources.gardener.cloud/garbage-collectable-reference'] === 'true';
        if (isGarbage && !used.has(name)) seed.objects.delete(secret);
      }
    },
    extension: () => seed.objects.find(reference) as KubeObject | undefined,
  };
}
