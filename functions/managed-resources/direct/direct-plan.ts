import { canonicalJson } from '../../../shared/config/hash.ts';
import { objectRef } from '../../../shared/gardener/object-ref.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import type { Desired } from '../desired/desired.ts';
import { pruners } from '../desired/leaving.ts';

/** What a direct delivery does, and what is on record before and after. */
export interface DirectPlan {
  /** What may be in the shoot from now on; written before anything is. */
  before: Applied;
  /** How many objects of the same contents have been applied already, by a run that ran out of time. */
  arrived: number;
  /** Former objects that nothing asks for any more: Flux's own first, which may need their controllers to go. */
  leaving: string[];
}

/** Stays although nobody asks for it any more: it may hold what is the user's (decision 13). */
const kept = /^(CustomResourceDefinition\.apiextensions\.k8s\.io|Namespace)\//;

/** Pure: compares what should be with what is on record. */
export function directPlan(wanted: Desired, previous: Applied | undefined): DirectPlan {
  const refs = new Set([...wanted.contents.values()].flat().map(objectRef));
  const former = Object.entries(previous?.objects ?? {}).filter(([name]) => !wanted.released.includes(name));
  const leaving = former.flatMap(([, list]) => list).filter((ref) => !refs.has(ref) && !kept.test(ref));
  const objects = { ...wanted.applied.objects };
  for (const [name, list] of former) objects[name] = [...new Set([...(objects[name] ?? []), ...list])];
  // What is being replaced has not arrived until all of it has: it may be neither the one nor the other for a while.
  const { managedResources } = wanted.applied;
  const delivered = Object.entries(previous?.delivered ?? {}).filter(([name, hash]) => managedResources[name] === hash);
  const isSame = canonicalJson(previous?.managedResources) === canonicalJson(managedResources);
  const arrived = isSame ? (previous?.arrived ?? 0) : 0;
  const before: Applied = {
    ...wanted.applied,
    delivery: 'Direct',
    objects,
    delivered: Object.fromEntries(delivered),
    ...(arrived > 0 && { arrived }),
  };
  return {
    before,
    arrived,
    leaving: [...leaving.filter(isFlux), ...leaving.filter((ref) => !isFlux(ref))],
  };
}

/**
 * True while something has yet to go that only a direct delivery knows of: a resource-manager that takes over prunes
 * what it has applied itself, and nothing else.
 */
export function leavesDirectly(wanted: Desired, previous: Applied | undefined): boolean {
  if (previous?.delivery !== 'Direct') return false;
  const { leaving } = directPlan(wanted, previous);
  return leaving.some((ref) => !previous.leaving?.includes(ref));
}

/** @param remaining refs that are still in the shoot */
export function recordAfter(wanted: Desired, previous: Applied | undefined, remaining: string[]): Applied {
  const { applied } = wanted;
  const objects = { ...applied.objects };
  for (const [name, list] of Object.entries(previous?.objects ?? {})) {
    const rest = list.filter((ref) => remaining.includes(ref));
    if (rest.length > 0) objects[name] = [...new Set([...(objects[name] ?? []), ...rest])];
  }
  const leaving = remaining.filter(isFlux);
  return {
    ...applied,
    delivery: 'Direct',
    objects,
    delivered: { ...applied.managedResources },
    ...(leaving.length > 0 ? { leaving } : {}),
  };
}

/** True for Flux's own objects: they carry finalizers that a controller has to take away. */
export function isFlux(ref: string): boolean {
  return /^\w+\.[\w.]+\.fluxcd\.io\//.test(ref);
}

/** True for what has to be suspended before it goes, or its workloads go with it. */
export function isPruner(ref: string): boolean {
  return isFlux(ref) && pruners.has(ref.split('.')[0] ?? '');
}
