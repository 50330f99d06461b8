import { contentSecretName, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { isSuspended, objectRef, pruningKinds } from '../shoot/objects.ts';

/** What decides the content of the ManagedResource for sources and Kustomizations. */
export interface SyncInputs {
  /** The objects that the configuration asks for. */
  next: KubeObject[];
  /** The ManagedResource that holds the sync objects; undefined: none is there to stay, or it is out of scope. */
  live: ManagedResource | undefined;
  /** The objects that it holds, when `resourceWithFormerContent` returns it. */
  former: KubeObject[] | undefined;
  /** Refs that are pending removal by the record. */
  recorded: string[];
  /** Refs of objects that were seen suspended in the shoot itself. */
  confirmed: ReadonlySet<string>;
}

/**
 * Returns the ManagedResource when it holds another content than the next one, which then counts in the plan. The
 * control plane says what that content is, not the record: a record can get lost.
 */
export function resourceWithFormerContent({ next, live }: Pick<SyncInputs, 'next' | 'live'>) {
  return live?.spec.secretRefs[0]?.name === contentSecretName(names.sync, next) ? undefined : live;
}

/**
 * Returns the suspended objects that may leave once they are seen suspended in the shoot itself: that the
 * ManagedResource is applied does not say that each of its objects was written.
 */
export function leavingObjects({ next, live, former = [] }: Omit<SyncInputs, 'recorded' | 'confirmed'>): KubeObject[] {
  if (live === undefined || !isApplied(live)) return [];
  const wanted = new Set(next.map(objectRef));
  return former.filter(
    (object) => pruningKinds.has(object.kind) && isSuspended(object) && !wanted.has(objectRef(object)),
  );
}

/**
 * Adds the objects that are pending removal to those that the configuration asks for.
 * @returns also the refs of those that it no longer has and that are not removed from the shoot yet
 */
export function planSyncObjects(inputs: SyncInputs): { objects: KubeObject[]; pendingRemoval: string[] } {
  const { next, live, former, recorded } = inputs;
  const isThere = live !== undefined && isApplied(live);
  if (live === undefined || (former === undefined && isThere)) return { objects: next, pendingRemoval: [] };
  if (!isThere && isComingBack(next, former, recorded)) return { objects: former ?? [], pendingRemoval: recorded };
  const left = leavingNow(inputs);
  const objects = [...next, ...left.map(leaving)];
  // Dropped objects are pending until the content without them is applied: a sync mode that releases the ManagedResource
  // earlier would leave them in the shoot.
  const there = new Set(objects.map(objectRef));
  const dropped = recorded.filter((ref) => !there.has(ref));
  return { objects, pendingRemoval: [...new Set([...left.map(objectRef), ...dropped])] };
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
 * @returns the objects that the shoot was given last and that stay until all of them are known to be suspended there
 */
function leavingNow(inputs: SyncInputs): KubeObject[] {
  const { next, former = [], confirmed } = inputs;
  const wanted = new Set(next.map(objectRef));
  const left = former.filter((object) => !wanted.has(objectRef(object)));
  const mayLeave = new Set(leavingObjects(inputs).map(objectRef));
  const isConfirmed = (ref: string) => mayLeave.has(ref) && confirmed.has(ref);
  return left.every((object) => !pruningKinds.has(object.kind) || isConfirmed(objectRef(object))) ? [] : left;
}

/**
 * True while the configuration asks again for an object that is still being removed: applied now, it would lose its
 * `suspend`, and Flux would delete its workloads before it removes the finalizer. It is recreated once it is gone.
 */
function isComingBack(next: KubeObject[], former: KubeObject[] | undefined, recorded: string[]): boolean {
  const there = new Set(former?.map(objectRef));
  return former !== undefined && next.map(objectRef).some((ref) => recorded.includes(ref) && !there.has(ref));
}

/** An object as it leaves: suspended, and without keys that would keep the resource-manager from writing that. */
function leaving(object: KubeObject): KubeObject {
  const plain = withoutSteeringKeys(object);
  if (!pruningKinds.has(object.kind)) return plain;
  return { ...plain, spec: { ...(object.spec as object), suspend: true } };
}

/** Of the resource-manager itself, or ours: these steer nothing that matters to an object that leaves. */
const harmless = [
  'resources.gardener.cloud/description',
  'resources.gardener.cloud/origin',
  'resources.gardener.cloud/skip-health-check',
];

/**
 * True for an annotation or label that makes the resource-manager treat an object differently. With `ignore` or a `mode`
 * it would never write the suspension of an object that leaves, and delete it all the same.
 */
function isSteering(key: string): boolean {
  return /^(?:[^/]*\.)?gardener\.cloud\//.test(key) && !harmless.includes(key);
}

/** Returns the object without the keys that steer the resource-manager. */
export function withoutSteeringKeys(object: KubeObject): KubeObject {
  const { annotations, labels } = object.metadata;
  const kept = {
    ...(annotations && { annotations: withoutKeys(annotations) }),
    ...(labels && { labels: withoutKeys(labels) }),
  };
  return { ...object, metadata: { ...object.metadata, ...kept } };
}

/** Returns the merge patch that removes these keys from a live object; undefined when it has none. */
export function steeringKeysPatch({ metadata }: KubeObject): Record<string, unknown> | undefined {
  const removed = { annotations: nulls(metadata.annotations), labels: nulls(metadata.labels) };
  const parts = Object.entries(removed).filter(([, part]) => Object.keys(part).length > 0);
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}

function withoutKeys(map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !isSteering(key)));
}

function nulls(map: Record<string, string> = {}): Record<string, null> {
  const keys = Object.keys(map).filter((key) => isSteering(key));
  return Object.fromEntries(keys.map((key) => [key, null]));
}
