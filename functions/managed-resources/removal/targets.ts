import { parseRef } from '../../../shared/gardener/object-ref.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import type { ObjectName, Resource } from '../../../shared/kube/resource.ts';
import { builtInKinds } from '../kinds.ts';

/** One object of the record. */
export interface Target extends ObjectName {
  resource: Resource;
  /** As the record names it. */
  ref: string;
}

/** What is to be removed from a shoot, from the record alone: the ManagedResources may be gone already. */
export interface Targets {
  deployments: Target[];
  crds: Target[];
  /** Everything else but Namespaces and objects of Flux's own kinds, which go with their CRDs. */
  others: Target[];
}

/** Pure: sorts the recorded objects by how they are removed. */
export function targetsOf(applied: Applied): Targets {
  const targets: Targets = { deployments: [], crds: [], others: [] };
  for (const ref of Object.values(applied.objects).flat()) {
    const { type, name } = parseRef(ref);
    const resource = builtInKinds[type];
    if (type === 'Namespace' || resource === undefined) continue;
    listFor(targets, type).push({ resource, ref, ...name });
  }
  return targets;
}

function listFor(targets: Targets, type: string): Target[] {
  if (type === 'CustomResourceDefinition.apiextensions.k8s.io') return targets.crds;
  return type === 'Deployment.apps' ? targets.deployments : targets.others;
}
