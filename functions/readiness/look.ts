import type { Applied, ShootObject } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import type { Seen } from './judge.ts';

/** At most three requests to the shoot. */
export async function look(shoot: KubeClient, applied: Applied): Promise<Seen> {
  const [deployments, source, kustomization] = await Promise.all([
    shoot.list(resources.deployments, {
      namespace: applied.namespace,
      labelSelector: 'app.kubernetes.io/part-of=flux',
    }),
    find(shoot, applied.source),
    find(shoot, applied.kustomization),
  ]);
  return { deployments: deployments.items, source, kustomization };
}

/** Plurals of the kinds that a source or root Kustomization may have; Flux's own names, the same in every release. */
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
