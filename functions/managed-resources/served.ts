import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';

const PARALLEL = 8;

/**
 * Kinds as the shoot serves them: their CRDs tell, whatever release put them there.
 * @param crds names of CustomResourceDefinitions; one that is not there has no objects
 */
export async function servedKinds(shoot: KubeClient, crds: string[]): Promise<Resource[]> {
  const found = await inParallel(PARALLEL, crds, (name) => shoot.find(resources.customResourceDefinitions, { name }));
  return found.flatMap((crd) => (crd === undefined ? [] : servedKind(crd)));
}

function servedKind({ spec }: KubeObject): Resource[] {
  const { group, names, scope, versions } = spec as {
    group: string;
    names: { plural: string; kind: string };
    scope: string;
    versions: { name: string; served: boolean; storage: boolean }[];
  };
  const version = versions.find(({ served, storage }) => served && storage) ?? versions.find(({ served }) => served);
  if (version === undefined) return [];
  return [{ group, version: version.name, ...names, namespaced: scope === 'Namespaced' }];
}
