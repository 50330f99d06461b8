import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { contentSecretName } from '../../../shared/gardener/managed-resource-content.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { isSuspended, objectRef, pruningKinds } from '../objects.ts';

/** The objects of the ManagedResource for sources and Kustomizations. */
export interface SyncObjects {
  objects: KubeObject[];
  /** Refs of objects that the configuration no longer has and that are not removed from the shoot yet. */
  pendingRemoval: string[];
}

export interface SyncInputs {
  /** The objects that the configuration asks for. */
  next: KubeObject[];
  /** The ManagedResource that holds the sync objects. */
  live: ManagedResource | undefined;
  /** The objects that it holds, when `resourceWithFormerContent` returns it. */
  former: KubeObject[] | undefined;
  isInScope: boolean;
  /** Refs that are pending removal by the record. */
  recorded: string[];
}

/**
 * Returns the ManagedResource when it holds another content than the next one, which then counts in the plan. The
 * control plane says what that content is, not the record: a record can get lost.
 */
export function resourceWithFormerContent({
  next,
  live,
  isInScope,
}: Omit<SyncInputs, 'former'>): ManagedResource | undefined {
  if (!isManaged(live, isInScope)) return undefined;
  return live.spec.secretRefs[0]?.name === contentSecretName(names.sync, next) ? undefined : live;
}

/** Adds the objects that are pending removal to those that the configuration asks for. */
export function planSyncObjects({ next, live, former, isInScope, recorded }: SyncInputs): SyncObjects {
  const unchanged = { objects: next, pendingRemoval: [] };
  if (!isManaged(live, isInScope)) return unchanged;
  if (former === undefined) return untilRemoved(unchanged, recorded, isApplied(live));
  if (!isApplied(live) && isComingBack(next, former, recorded)) return { objects: former, pendingRemoval: recorded };
  const confirmed = new Set(isApplied(live) ? former.filter(isSuspended).map(objectRef) : []);
  return untilRemoved(withPendingRemoval(next, former, confirmed), recorded, false);
}

function isManaged(live: ManagedResource | undefined, isInScope: boolean): live is ManagedResource {
  return isInScope && live !== undefined && live.metadata.deletionTimestamp === undefined;
}

/** True when the current content is in the shoot: applied, and not merely ignored (trap 29). */
function isApplied({ metadata, status }: ManagedResource): boolean {
  const applied = status?.conditions?.find(({ type }) => type === 'ResourcesApplied');
  return status?.observedGeneration === metadata.generation && applied?.status === 'True';
}

/**
 * Never prunes workloads of the user: a Kustomization or HelmRelease that the configuration no longer has is applied
 * with `suspend: true` first, because Flux deletes a suspended one without pruning (docs/flux-facts.md). Its source
 * stays until then as well: the resource-manager deletes before it applies, and a source's finalizer may take time.
 * @param former the objects that the shoot was given last
 * @param confirmed refs of objects that are known to be suspended in the shoot
 */
export function withPendingRemoval(
  next: KubeObject[],
  former: KubeObject[],
  confirmed: ReadonlySet<string>,
): SyncObjects {
  const wanted = new Set(next.map(objectRef));
  const left = former.filter((object) => !wanted.has(objectRef(object)));
  const isUnconfirmed = left.some((object) => pruningKinds.has(object.kind) && !confirmed.has(objectRef(object)));
  if (!isUnconfirmed) return { objects: next, pendingRemoval: [] };
  return { objects: [...next, ...left.map(suspended)], pendingRemoval: left.map(objectRef) };
}

/**
 * Keeps dropped objects pending until the content without them is applied: a sync mode that releases the
 * ManagedResource earlier would leave them in the shoot.
 * @param isApplied true when the content without them is applied
 */
export function untilRemoved(set: SyncObjects, recorded: string[], isApplied: boolean): SyncObjects {
  if (isApplied) return set;
  const there = new Set(set.objects.map(objectRef));
  return {
    ...set,
    pendingRemoval: [...new Set([...set.pendingRemoval, ...recorded.filter((ref) => !there.has(ref))])],
  };
}

/**
 * True while the configuration asks again for an object that is still being removed: applied now, it would lose its
 * `suspend`, and Flux would delete its workloads before it removes the finalizer. It is recreated once it is gone.
 */
export function isComingBack(next: KubeObject[], former: KubeObject[], recorded: string[]): boolean {
  const there = new Set(former.map(objectRef));
  return next.map(objectRef).some((ref) => recorded.includes(ref) && !there.has(ref));
}

function suspended(object: KubeObject): KubeObject {
  if (!pruningKinds.has(object.kind)) return object;
  return { ...object, spec: { ...(object.spec as object), suspend: true } };
}
