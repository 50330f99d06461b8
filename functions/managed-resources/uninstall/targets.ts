import type { Applied } from '../../../shared/gardener/types.ts';
import type { ObjectName, Resource } from '../../../shared/kube/resource.ts';
import { parseRef } from '../objects.ts';
import { builtInKinds } from '../shoot/kinds.ts';

/** A recorded object to delete. */
export interface Target extends ObjectName {
  resource: Resource;
  /** Its name in the record. */
  ref: string;
}

/** The objects to delete, by the record alone: the ManagedResources may be gone already. */
export interface Targets {
  deployments: Target[];
  crds: Target[];
  /** Everything else, without Namespaces and without objects of Flux's own kinds: these are deleted with their CRDs. */
  others: Target[];
}

/** Sorts the recorded objects by how they are deleted. */
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
