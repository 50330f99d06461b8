import { isTrue } from '../../../shared/gardener/is-true.ts';
import { KEEP_OBJECT } from '../../../shared/gardener/managed-resource.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { ConflictError } from '../../../shared/kube/errors.ts';
import type { KubeObject, ObjectName, Resource } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { isFluxRef, isPruningRef, isSuspended, parseRef } from '../objects.ts';
import { fieldManager } from '../release.ts';
import { resourceOf } from '../shoot/kinds.ts';
import { carriesOurMark } from '../shoot/mark.ts';

type Kinds = Record<string, Resource>;

/** Says, after an object was read, whether it is still a surplus: a run that was overtaken must not act any more. */
type IsDue = (ref: string) => Promise<boolean>;

/** Direct delivery applies everything again in each run. */
const always: IsDue = async () => true;

/** Returns the first of the objects that is still being deleted in the shoot. */
export async function findDeleting(
  shoot: KubeClient,
  objects: readonly KubeObject[],
  kinds: Kinds,
): Promise<KubeObject | undefined> {
  for (const object of objects) {
    const live = await shoot.find(resourceOf(object, kinds), object.metadata, { metadataOnly: true });
    if (live?.metadata.deletionTimestamp !== undefined) return object;
  }
  return undefined;
}

/** Suspends the surplus objects that would otherwise delete their workloads. */
export async function suspendSurplus(
  shoot: KubeClient,
  refs: string[],
  kinds: Kinds,
  isDue: IsDue = always,
): Promise<void> {
  for (const ref of refs.filter(isPruningRef)) {
    const [resource, name] = locate(ref, kinds);
    const live = resource && (await shoot.find(resource, name));
    if (!resource || live === undefined || isSuspended(live) || !carriesOurMark(live) || !(await isDue(ref))) continue;
    const { resourceVersion } = live.metadata;
    const guard = isDue === always ? {} : { metadata: { resourceVersion } };
    const patch = { ...guard, spec: { suspend: true } };
    await shoot.mergePatch(resource, name, patch, { fieldManager });
  }
}

/** What a pruning has left in the shoot, by refs. */
export interface Pruned {
  /** These are deleted later: they wait for a finalizer, or are not suspended yet. */
  remaining: string[];
  /** These are not ours any more, and stay. */
  foreign: string[];
}

/** Deletes the surplus objects, Flux's own first: while one of them is left, the controllers and all others stay. */
export async function deleteSurplus(
  shoot: KubeClient,
  refs: string[],
  kinds: Kinds,
  isDue: IsDue = always,
): Promise<Pruned> {
  const ofFlux = await deleteAll(shoot, refs.filter(isFluxRef), kinds, isDue);
  const others = refs.filter((ref) => !isFluxRef(ref));
  if (ofFlux.remaining.length > 0) return { ...ofFlux, remaining: [...ofFlux.remaining, ...others] };
  const rest = await deleteAll(shoot, others, kinds, isDue);
  return { remaining: rest.remaining, foreign: [...ofFlux.foreign, ...rest.foreign] };
}

async function deleteAll(shoot: KubeClient, refs: string[], kinds: Kinds, isDue: IsDue): Promise<Pruned> {
  const fates = await inParallel(refs, (ref) => deleteOne(shoot, ref, kinds, isDue));
  const withFate = (fate: Fate) => refs.filter((_, index) => fates[index] === fate);
  return { remaining: withFate('remains'), foreign: withFate('foreign') };
}

type Fate = 'gone' | 'stays' | 'remains' | 'foreign';

/** Deletes the object that was read, and no other one that has taken its name since. */
async function deleteOne(shoot: KubeClient, ref: string, kinds: Kinds, isDue: IsDue): Promise<Fate> {
  const [resource, name] = locate(ref, kinds);
  const live = resource && (await shoot.find(resource, name, { metadataOnly: !isPruningRef(ref) }));
  if (!resource || live === undefined) return 'gone';
  const { annotations, deletionTimestamp, uid, resourceVersion } = live.metadata;
  if (isTrue(annotations?.[KEEP_OBJECT])) return 'stays';
  if (deletionTimestamp !== undefined) return 'remains';
  if (!carriesOurMark(live)) return 'foreign';
  // A webhook of the shoot may have reverted the suspension.
  if (isPruningRef(ref) && !isSuspended(live)) return 'remains';
  if (!(await isDue(ref))) return 'remains';
  // As it was read: suspended. The state of other objects changes all the time.
  const preconditions = { ...(uid && { uid }), ...(isPruningRef(ref) && resourceVersion && { resourceVersion }) };
  try {
    await shoot.delete(resource, name, { propagationPolicy: 'Background', preconditions });
  } catch (error) {
    if (error instanceof ConflictError) return 'remains';
    throw error;
  }
  return (await shoot.find(resource, name, { metadataOnly: true })) === undefined ? 'gone' : 'remains';
}

/** A kind that this release does not have cannot be located: its CRD is not among the release's objects. */
function locate(ref: string, kinds: Kinds): [Resource | undefined, ObjectName] {
  const { type, name } = parseRef(ref);
  return [kinds[type], name];
}
