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
  const recorded = Object.values(applied.objects).flat().flatMap(targetsIn);
  const { deployments = [], crds = [], others = [] } = Object.groupBy(recorded, listFor);
  return { deployments, crds, others };
}

/** Returns the target of a ref; none for Namespaces and for objects of Flux's own kinds. */
function targetsIn(ref: string): Target[] {
  const { type, name } = parseRef(ref);
  const resource = builtInKinds[type];
  return type === 'Namespace' || resource === undefined ? [] : [{ resource, ref, ...name }];
}

function listFor({ resource: { kind } }: Target): keyof Targets {
  if (kind === 'CustomResourceDefinition') return 'crds';
  return kind === 'Deployment' ? 'deployments' : 'others';
}
