import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { Settings } from '../../../shared/runtime/context.ts';
import { isFluxRef, objectRef } from '../objects.ts';
import { canonicalJson } from './config-hash.ts';
import { chooseDelivery } from './delivery.ts';
import type { Plan } from './plan.ts';
import { namesOutOfScope, updateScope } from './scope.ts';

/** The changes that a plan asks for when we apply its objects ourselves. */
export interface DirectChanges {
  /** The record before the first write: everything that may be in the shoot from now on. */
  recordBefore: Applied;
  /** True when the shoot has all contents of the plan by the last record. */
  isUpToDate: boolean;
  /** True when the last record names the same contents. */
  isRepeated: boolean;
  /** How many objects of the same contents a run applied before it ran out of time. */
  alreadyApplied: number;
  /** Refs of former objects to delete. */
  surplus: string[];
}

/** Objects that are never deleted from the shoot: they may hold objects of users (decision 13). */
export const neverDeleted = /^(CustomResourceDefinition\.apiextensions\.k8s\.io|Namespace)\//;

type Contents = Pick<Plan, 'record' | 'contents' | 'released'>;

/** What the last run left. */
interface Last {
  previous: Applied | undefined;
  isBootstrapped: boolean;
}

/** Compares a plan with the last record. */
export function directChanges(
  { record, contents, released }: Contents,
  { previous, isBootstrapped }: Last,
): DirectChanges {
  const refs = new Set([...contents.values()].flat().map(objectRef));
  // What was released before belongs to users, whatever the mode is now.
  const notOurs = [...released, ...releasedBefore(previous, isBootstrapped)];
  const former = Object.entries(previous?.objects ?? {}).filter(([name]) => !notOurs.includes(name));
  const surplus = former.flatMap(([, list]) => list).filter((ref) => !refs.has(ref) && !neverDeleted.test(ref));
  const objects = { ...record.objects };
  for (const [name, list] of former) objects[name] = [...new Set([...(objects[name] ?? []), ...list])];
  // A content that is being replaced counts as not delivered until all of the new one is applied.
  const { managedResources } = record;
  const delivered = Object.entries(previous?.delivered ?? {}).filter(([name, hash]) => managedResources[name] === hash);
  const isRepeated = canonicalJson(previous?.managedResources) === canonicalJson(managedResources);
  const alreadyApplied = isRepeated ? (previous?.arrived ?? 0) : 0;
  const recordBefore: Applied = {
    ...record,
    delivery: 'Direct',
    objects,
    delivered: Object.fromEntries(delivered),
    ...(alreadyApplied > 0 && { arrived: alreadyApplied }),
  };
  return {
    recordBefore,
    isUpToDate: canonicalJson(previous?.delivered) === canonicalJson(managedResources),
    isRepeated,
    alreadyApplied,
    surplus,
  };
}

/** The groups that the sync mode of the record has released: unlike one whose objects have all left, no content is recorded. */
function releasedBefore(previous: Applied | undefined, isBootstrapped: boolean): string[] {
  if (previous === undefined) return [];
  const outOfScope = namesOutOfScope(updateScope(previous.syncMode, isBootstrapped, previous));
  return outOfScope.filter((name) => previous.managedResources[name] === undefined);
}

/** We apply the objects ourselves. */
export interface DirectDelivery {
  by: 'us';
  changes: DirectChanges;
  /** True: the resource-manager takes over in the next run. */
  isHandingOver: boolean;
}

/**
 * Decides how a plan reaches the shoot. Before the resource-manager takes over, we delete the objects that only the last
 * direct delivery knows of: the resource-manager deletes those that it has applied itself, and no others.
 */
export function planDelivery(
  setting: Settings['delivery'],
  plan: Contents,
  { live, ...last }: Last & { live: ReadonlyMap<string, ManagedResource> },
): { by: 'ManagedResource' } | DirectDelivery {
  const { previous } = last;
  const chosen = chooseDelivery(setting, previous, live);
  if (chosen === 'Direct') return { by: 'us', changes: directChanges(plan, last), isHandingOver: false };
  if (previous?.delivery !== 'Direct') return { by: 'ManagedResource' };
  const changes = directChanges(plan, last);
  const isSurplus = changes.surplus.some((ref) => !previous.leaving?.includes(ref));
  return isSurplus ? { by: 'us', changes, isHandingOver: true } : { by: 'ManagedResource' };
}

/**
 * The record after the last write.
 * @param remaining refs of surplus objects that are still in the shoot
 */
export function recordAfter(plan: Pick<Plan, 'record'>, previous: Applied | undefined, remaining: string[]): Applied {
  const { record } = plan;
  const objects = { ...record.objects };
  for (const [name, list] of Object.entries(previous?.objects ?? {})) {
    const rest = list.filter((ref) => remaining.includes(ref));
    if (rest.length > 0) objects[name] = [...new Set([...(objects[name] ?? []), ...rest])];
  }
  const pendingRemoval = remaining.filter(isFluxRef);
  return {
    ...record,
    delivery: 'Direct',
    objects,
    delivered: { ...record.managedResources },
    ...(pendingRemoval.length > 0 ? { leaving: pendingRemoval } : {}),
  };
}
