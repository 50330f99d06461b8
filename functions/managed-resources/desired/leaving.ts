import { objectRef } from '../../../shared/gardener/object-ref.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';

/** What deletes what it has deployed when it is deleted itself. */
export const pruners: ReadonlySet<string> = new Set(['Kustomization', 'HelmRelease']);

/** The sync objects to write, and which of them are only there to leave. */
export interface SyncSet {
  objects: KubeObject[];
  /** Refs of objects on their way out. */
  leaving: string[];
}

/**
 * Nothing of the user's is pruned by our bookkeeping: a Kustomization or HelmRelease that leaves the set is first
 * applied with `suspend: true`, because a suspended one is deleted without pruning (facts/flux.md 4.3). Its source
 * stays as long, since the resource-manager removes before it applies and a source's finalizer may need time.
 * @param next what the configuration asks for
 * @param previous what the shoot has been given last
 * @param confirmed refs of leaving objects that are known to be suspended in the shoot
 */
export function withLeaving(next: KubeObject[], previous: KubeObject[], confirmed: ReadonlySet<string>): SyncSet {
  const wanted = new Set(next.map(objectRef));
  const left = previous.filter((object) => !wanted.has(objectRef(object)));
  const unconfirmed = left.some((object) => pruners.has(object.kind) && !confirmed.has(objectRef(object)));
  if (!unconfirmed) return { objects: next, leaving: [] };
  return { objects: [...next, ...left.map(suspended)], leaving: left.map(objectRef) };
}

/**
 * What is dropped is still leaving until the shoot has it so: a mode that lets go before would leave it there.
 * @param former what was leaving before this run
 * @param isDropped the content without it is applied
 */
export function untilDropped(set: SyncSet, former: string[], isDropped: boolean): SyncSet {
  if (isDropped) return set;
  const there = new Set(set.objects.map(objectRef));
  return { ...set, leaving: [...new Set([...set.leaving, ...former.filter((ref) => !there.has(ref))])] };
}

/**
 * True while something that is asked for again is still on its way out: applied now it would lose its `suspend`, and Flux
 * would take away what it has deployed before it lets it go. It is made anew when it is gone.
 * @param given what the shoot is being given
 * @param former what was leaving before this run
 */
export function comesBack(next: KubeObject[], given: KubeObject[], former: string[]): boolean {
  const there = new Set(given.map(objectRef));
  return next.map(objectRef).some((ref) => former.includes(ref) && !there.has(ref));
}

/** True for what Flux deletes without pruning. */
export function isSuspended(object: KubeObject): boolean {
  return (object.spec as { suspend?: boolean } | undefined)?.suspend === true;
}

function suspended(object: KubeObject): KubeObject {
  if (!pruners.has(object.kind)) return object;
  return { ...object, spec: { ...(object.spec as object), suspend: true } };
}
