import type { KubeObject } from '../client/client.ts';
import { type Cluster, EXTENSION_TYPE, type Shoot } from '../gardener/types.ts';

/** A Shoot in the garden. */
export type GardenShoot = Shoot & KubeObject;

/** Returns `shoot--<project>--<shoot>`. */
export function technicalIdOf({ metadata }: Shoot): string {
  const project = (metadata.namespace ?? '').replace(/^garden-/, '');
  return `shoot--${project}--${metadata.name}`;
}

/** Returns the entry of the extension in the spec of a Shoot; undefined: the Shoot does not have it, or disables it. */
export function extensionOf({ spec }: Shoot): { providerConfig?: unknown } | undefined {
  return spec?.extensions?.find(({ type, disabled }) => type === EXTENSION_TYPE && disabled !== true);
}

/** Returns the control-plane namespace with the labels that webhooks select by. */
export function namespaceOf(shoot: GardenShoot): KubeObject {
  const type = shoot.spec?.provider?.type ?? 'local';
  const labels: Record<string, string> = {
    'gardener.cloud/role': 'shoot',
    'shoot.gardener.cloud/provider': type,
    'seed.gardener.cloud/provider': type,
    'networking.shoot.gardener.cloud/provider': 'calico',
    'backup.gardener.cloud/provider': type,
    'pod-security.kubernetes.io/enforce': 'privileged',
  };
  for (const extension of shoot.spec?.extensions ?? []) {
    if (extension.disabled !== true) labels[`extensions.gardener.cloud/${extension.type}`] = 'true';
  }
  const annotations = { 'shoot.gardener.cloud/uid': shoot.status?.uid ?? '' };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: technicalIdOf(shoot), labels, annotations } };
}

/** Returns the Cluster: complete objects, without managedFields. */
export function clusterOf(shoot: GardenShoot, seedName: string): Cluster {
  const { managedFields: _, ...metadata } = shoot.metadata as Shoot['metadata'] & { managedFields?: unknown };
  const core = { apiVersion: 'core.gardener.cloud/v1beta1' };
  return {
    apiVersion: 'extensions.gardener.cloud/v1alpha1',
    kind: 'Cluster',
    metadata: {
      name: technicalIdOf(shoot),
      annotations: { 'generic-token-kubeconfig.secret.gardener.cloud/name': 'generic-token-kubeconfig-1' },
    },
    spec: {
      cloudProfile: { ...core, kind: 'CloudProfile', metadata: { name: 'local' } },
      seed: { ...core, kind: 'Seed', metadata: { name: seedName } },
      shoot: { ...shoot, ...core, kind: 'Shoot', metadata } as Shoot,
    },
  };
}

/** Returns the Secrets with kubeconfigs for the shoot's API, from within the seed and from anywhere. */
export function accessSecrets(namespace: string, kubeconfig: string): KubeObject[] {
  return ['gardener-internal', 'gardener'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    type: 'Opaque',
    data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  }));
}

/** The namespace that our webhook adds to those that the resource-manager of a shoot may write into. */
export const EXTRA_TARGET_NAMESPACE = 'flux-system';

/** Returns the Deployment of the shoot's resource-manager, with the argument of our webhook. */
export function resourceManagerDeployment(namespace: string): KubeObject {
  const name = 'gardener-resource-manager';
  const args = [`--extra-target-namespace=${EXTRA_TARGET_NAMESPACE}`];
  const image = `registry.example.org/gardener/resource-manager:v1.150.0`;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name, image, args: ['--config=/etc/gardener-resource-manager/config.yaml', ...args] }] },
      },
    },
  };
}
