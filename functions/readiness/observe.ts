import type { Applied, ShootObject } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import type { Observed } from './assess.ts';

/**
 * Reads Flux in the shoot, with at most three requests. One after the other: at once, each would open a connection of its
 * own, and the handshakes of TLS are most of what a run costs (10 ms instead of 5 ms of CPU time).
 */
export async function observe(shoot: KubeClient, applied: Applied): Promise<Observed> {
  const deployments = await shoot.list(resources.deployments, {
    namespace: applied.namespace,
    labelSelector: 'app.kubernetes.io/part-of=flux',
    limit: 100,
  });
  const source = await find(shoot, applied.source);
  const kustomization = await find(shoot, applied.kustomization);
  return { deployments: deployments.items, source, kustomization };
}

/** Plurals of the kinds of sources and root Kustomizations, which are the same in every Flux release. */
const plurals: Record<string, string> = {
  GitRepository: 'gitrepositories',
  OCIRepository: 'ocirepositories',
  Bucket: 'buckets',
  Kustomization: 'kustomizations',
};

async function find(shoot: KubeClient, object: ShootObject | undefined): Promise<KubeObject | undefined> {
  if (object === undefined) return undefined;
  const { apiVersion, kind, namespace, name } = object;
  const [group = '', version = ''] = apiVersion.split('/');
  const resource: Resource = {
    group,
    version,
    kind,
    plural: plurals[kind] ?? `${kind.toLowerCase()}s`,
    namespaced: true,
  };
  return shoot.find(resource, { namespace, name });
}
