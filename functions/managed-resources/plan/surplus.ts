import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, ManagedResource, OperationType } from '../../../shared/gardener/types.ts';
import { isFluxRef, objectRef } from '../objects.ts';
import type { Plan } from './plan.ts';

/** Objects that are never deleted from the shoot: they may hold objects of users (decision 13). */
const neverDeleted = /^(CustomResourceDefinition\.apiextensions\.k8s\.io|Namespace)\//;

/** What decides whether a plan comes to a control plane whose ManagedResources are still missing. */
export interface Restoration {
  previous: Applied | undefined;
  live: ReadonlyMap<string, ManagedResource>;
  operation: OperationType;
}

/**
 * Returns the refs of objects in the shoot that only the ManagedResources of another seed have known: the last record
 * names them, the plan does not, and the new resource-manager has never applied them. Until all of the plan is applied,
 * each change of the plan counts, because the resource-manager may never have applied what it replaces.
 * @returns undefined where the ManagedResources know everything; an empty list: they do not, but nothing has left
 */
export function surplusOf(
  { contents, released }: Pick<Plan, 'contents' | 'released'>,
  { previous, live, operation }: Restoration,
): string[] | undefined {
  if (previous === undefined) return undefined;
  // Hibernated, a Shoot is restored first and gets its ManagedResources when it wakes up.
  const isRestored = live.size === 0 && operation !== 'Create';
  if (!isRestored && previous.surplus === undefined) return undefined;
  // Groups that were released before belong to users, whatever the mode is now.
  const followed = Object.keys(previous.managedResources).flatMap((name) => previous.objects[name] ?? []);
  const former = [...(previous.surplus ?? []), ...(previous.leaving ?? []), ...followed];
  const kept = new Set([
    ...[...contents.values()].flat().map(objectRef),
    ...released.flatMap((name) => previous.objects[name] ?? []),
  ]);
  return [...new Set(former)].filter((ref) => !kept.has(ref) && !neverDeleted.test(ref));
}

/**
 * Returns the record with a surplus. Its objects are also recorded as objects of their groups, where an uninstallation
 * finds them; Flux's own count as pending removal, so that no sync mode releases them suspended.
 */
export function withSurplus(record: Applied, previous: Applied | undefined, surplus: string[]): Applied {
  const objects = { ...record.objects };
  for (const ref of surplus) {
    const [name] = Object.entries(previous?.objects ?? {}).find(([, refs]) => refs.includes(ref)) ?? [names.sync];
    objects[name] = [...new Set([...(objects[name] ?? []), ref])];
  }
  const leaving = [...new Set([...(record.leaving ?? []), ...surplus.filter(isFluxRef)])];
  return { ...record, objects, surplus, ...(leaving.length > 0 && { leaving }) };
}
