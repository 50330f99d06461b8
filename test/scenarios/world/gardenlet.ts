import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { CONTROL_PLANE, clusterOf, EXTENSION, inControlPlane, inProject, PROJECT, type ShootParts } from '../stage.ts';

export type Gardenlet = ReturnType<typeof gardenletOf>;

const reference = { apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Extension', metadata: EXTENSION };

interface Options {
  garden: KubeApi;
  seed: KubeApi;
  shoot: KubeApi;
  now(): Date;
  /** Token in the kubeconfig in the control plane. */
  shootToken: string;
}

/** The actions of users and gardenlet around one Shoot of one project. */
export function gardenletOf({ garden, seed, shoot, now, shootToken }: Options) {
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
  const specOf = (providerConfig: unknown) => ({
    type: 'shoot-flux',
    ...(providerConfig === undefined ? {} : { providerConfig }),
  });
  /** Annotates the Extension. */
  const operate = (operation: 'migrate' | 'restore') =>
    void seed.objects.patch(reference, { metadata: { annotations: annotations(operation) } });

  return {
    /** Writes ConfigMap `flux-config`; undefined deletes it. */
    fluxConfig(data: Record<string, string> | undefined) {
      const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: inProject('flux-config') };
      if (data === undefined) garden.objects.delete(configMap);
      else garden.objects.apply({ ...configMap, data } as KubeObject);
    },
    /** Reconciles the Shoot: writes the Cluster, and the Extension with annotation and timestamp. */
    reconcile(parts: ShootParts = {}) {
      const cluster = clusterOf(parts);
      garden.objects.apply(cluster.spec.shoot as unknown as KubeObject);
      seed.objects.apply(cluster);
      const metadata = { ...EXTENSION, annotations: annotations('reconcile') };
      seed.objects.apply({ ...reference, metadata, spec: specOf(parts.providerConfig) } as KubeObject);
    },
    operate,
    /** Deletes the Extension, as when the extension is removed from the Shoot. */
    deleteExtension: () => void seed.objects.delete(reference),
    /** Creates an Extension that waits for its state, as after a migration; the Cluster exists already. */
    createWaiting(providerConfig?: unknown) {
      const metadata = { ...EXTENSION, annotations: annotations('wait-for-state') };
      seed.objects.create({ ...reference, metadata, spec: specOf(providerConfig) } as KubeObject);
    },
    /** Writes the state that the former seed's Extension had, and asks for a restoration. */
    restore(status: Record<string, unknown>) {
      seed.objects.patchStatus(reference, status);
      operate('restore');
    },
    /** Deletes content Secrets that no ManagedResource refers to, as Gardener does every few minutes (trap 27). */
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
