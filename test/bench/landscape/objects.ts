import type { Cluster, Extension } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';

/** The project of all Shoots of a bench. */
export const PROJECT_NAMESPACE = 'garden-bench';

/** The name under which the seed is served. */
export const SEED = 'bench';

/** The control-plane namespace of the Shoot with this number. */
export function controlPlane(number: number): string {
  return `shoot--bench--s${String(number).padStart(5, '0')}`;
}

export function namespace(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

/** Creates the project of all Shoots, with its configuration in the given mode. */
export async function createProject(client: KubeClient, syncMode: string): Promise<void> {
  await client.create(resources.namespaces, namespace(PROJECT_NAMESPACE), { fieldManager: 'bench' });
  await client.create(resources.configMaps, fluxConfig(syncMode), { fieldManager: 'bench' });
}

/** A project's configuration with a public repository, in the given mode. */
export function fluxConfig(syncMode: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'flux-config', namespace: PROJECT_NAMESPACE },
    data: { repositoryUrl: 'https://github.com/example/fleet', repositoryBranch: 'main', syncMode },
  };
}

/** Returns the Cluster that gardenlet writes for a Shoot that is being created, as far as the product reads it. */
export function cluster(name: string, resourceNames: readonly string[] = []): Cluster {
  const shoot = {
    apiVersion: 'core.gardener.cloud/v1beta1',
    kind: 'Shoot',
    metadata: { name: name.replace('shoot--bench--', ''), namespace: PROJECT_NAMESPACE },
    spec: {
      cloudProfile: { kind: 'CloudProfile', name: 'local' },
      region: 'local',
      seedName: SEED,
      purpose: 'evaluation',
      kubernetes: { version: '1.34.2' },
      provider: { type: 'local', workers: [{ name: 'worker', minimum: 1, maximum: 3 }] },
      networking: { type: 'calico', pods: '100.64.0.0/12', services: '100.104.0.0/13', nodes: '10.10.0.0/16' },
      dns: { domain: `${name}.example.com` },
      extensions: [{ type: 'shoot-flux' }],
      resources: resourceNames.map((resource) => ({
        name: resource,
        resourceRef: { apiVersion: 'v1', kind: 'Secret', name: resource },
      })),
    },
    status: {
      technicalID: name,
      clusterIdentity: `${name}-0c5c5a1e-bench-garden`,
      lastOperation: {
        type: 'Create' as const,
        state: 'Processing' as const,
        progress: 60,
        description: 'Deploying extensions',
        lastUpdateTime: '2026-01-02T03:04:05Z',
      },
    },
  };
  return {
    apiVersion: 'extensions.gardener.cloud/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { shoot, seed: { kind: 'Seed' } as KubeObject, cloudProfile: { kind: 'CloudProfile' } as KubeObject },
  };
}

/** An Extension as gardenlet writes it, with the annotation that asks for work. */
export function extension(namespace: string, providerConfig?: unknown): Extension {
  return {
    apiVersion: 'extensions.gardener.cloud/v1alpha1',
    kind: 'Extension',
    metadata: {
      name: 'shoot-flux',
      namespace,
      annotations: { 'gardener.cloud/operation': 'reconcile', 'gardener.cloud/timestamp': new Date().toISOString() },
    },
    spec: { type: 'shoot-flux', class: 'shoot', ...(providerConfig === undefined ? {} : { providerConfig }) },
  };
}
