import { isTrue, KEEP_OBJECT, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { extensionOf } from '../../../shared/gardener/read-objects.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { Applied, OperationType } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { ConflictError } from '../../../shared/kube/errors.ts';
import { type KubeObject, type ObjectName, type Resource, resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import type { Outcome } from '../../../shared/runtime/outcome.ts';
import type { Plan } from '../plan/plan.ts';
import { type ControlPlane, fieldManager } from '../read/control-plane.ts';
import { type Run, waitFor } from '../run.ts';
import { tryInShoot } from '../shoot/act.ts';
import {
  carriesOurMark,
  isFluxRef,
  isPruningRef,
  isSuspended,
  kindsOf,
  objectRef,
  parseRef,
  resourceOf,
} from '../shoot/objects.ts';
import { deliverByManagedResource } from './deliver.ts';

/** Objects that are never deleted from the shoot: they may hold objects of users (decision 13). */
const neverDeleted = /^(CustomResourceDefinition\.apiextensions\.k8s\.io|Namespace)\//;

/**
 * Returns the refs of objects in the shoot that only the ManagedResources of another seed have known: the last record
 * names them, the plan does not, and the new resource-manager has never applied them. Until all of the plan is applied,
 * each change of the plan counts, because the resource-manager may never have applied what it replaces.
 * @returns undefined where the ManagedResources know everything; an empty list: they do not, but nothing has left
 */
export function surplusOf(
  { contents, released }: Pick<Plan, 'contents' | 'released'>,
  { previous, live }: Pick<ControlPlane, 'previous' | 'live'>,
  operation: OperationType,
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

/**
 * Delivers a plan to a control plane whose resource-manager does not know what its predecessor on another seed has
 * applied. The surplus is recorded before the first write, and deleted once everything is applied; until it is gone, each
 * run tries again.
 */
export async function deliverRestored(
  run: Run,
  plan: Plan,
  controlPlane: ControlPlane,
  surplus: string[],
): Promise<Outcome> {
  const { previous } = controlPlane;
  const outcome = await awaitDeletion(run, plan, previous?.surplus ?? []);
  if (outcome !== undefined) return outcome;
  const recorded = { ...plan, record: withSurplus(plan.record, previous, surplus) };
  return deliverByManagedResource(run, recorded, controlPlane, async () => {
    const left = surplus.length === 0 ? [] : await deleteFormer(run, plan, surplus);
    if (left.length === 0) return { record: plan.record, isComplete: true };
    return { record: withSurplus(plan.record, previous, left), isComplete: false };
  });
}

/**
 * Waits for the deletion of objects that the configuration asks for again. Applied before, a Kustomization would lose its
 * `suspend` and delete its workloads, and a source would be missing until the next full pass of the resource-manager.
 * @param former the recorded surplus
 * @returns undefined when nothing that the plan needs is being deleted
 */
async function awaitDeletion(run: Run, plan: Plan, former: string[]): Promise<Outcome | undefined> {
  const returning = [...plan.contents.values()].flat().filter((object) => former.includes(objectRef(object)));
  if (returning.length === 0) return undefined;
  const kinds = kindsOf(plan.fluxRelease);
  const found = await withShoot(run, async (shoot) => ({ deleting: await findDeleting(shoot, returning, kinds) }));
  if (found === undefined) return waitFor(run, NO_KUBECONFIG);
  return found.deleting && waitFor(run, isBeingDeleted(found.deleting));
}

/**
 * Deletes the surplus. A shoot that does not answer, or refuses, holds nothing up.
 * @returns the refs of what is still in the shoot
 */
async function deleteFormer(run: Run, { fluxRelease }: Plan, surplus: string[]): Promise<string[]> {
  const { log } = run.context;
  const kinds = kindsOf(fluxRelease);
  // The resource-manager would not notice for an hour that a run which was overtaken has deleted what came back.
  const isDue = async (ref: string) => {
    const extension = await run.seed.find(resources.extensions, run.reporter.current().metadata);
    return (extension && extensionOf(extension))?.status?.state?.applied?.surplus?.includes(ref) === true;
  };
  const pruned = await tryInShoot(run, 'objects not deleted in the shoot', async (shoot) => {
    await suspendSurplus(shoot, surplus, kinds, isDue);
    return deleteSurplus(shoot, surplus, kinds, isDue);
  });
  for (const object of pruned?.foreign ?? []) log.warn('object left in the shoot', { object, error: NOT_OURS });
  return pruned?.remaining ?? surplus;
}

type Kinds = Record<string, Resource>;

/** Says, after an object was read, whether it is still a surplus: a run that was overtaken must not act any more. */
type IsDue = (ref: string) => Promise<boolean>;

/** Returns the first of the objects that is still being deleted in the shoot. */
async function findDeleting(
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
async function suspendSurplus(shoot: KubeClient, refs: string[], kinds: Kinds, isDue: IsDue): Promise<void> {
  for (const ref of refs.filter(isPruningRef)) {
    const [resource, name] = locate(ref, kinds);
    const live = resource && (await shoot.find(resource, name));
    if (!resource || live === undefined || isSuspended(live) || !carriesOurMark(live) || !(await isDue(ref))) continue;
    const { resourceVersion } = live.metadata;
    const patch = { metadata: { resourceVersion }, spec: { suspend: true } };
    await shoot.mergePatch(resource, name, patch, { fieldManager });
  }
}

/** What a pruning has left in the shoot, by refs. */
interface Pruned {
  /** These are deleted later: they wait for a finalizer, or are not suspended yet. */
  remaining: string[];
  /** These are not ours any more, and stay. */
  foreign: string[];
}

/** Deletes the surplus objects, Flux's own first: while one of them is left, the controllers and all others stay. */
async function deleteSurplus(shoot: KubeClient, refs: string[], kinds: Kinds, isDue: IsDue): Promise<Pruned> {
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
    await shoot.delete(resource, name, {
      reason: 'it left the configuration while the Shoot moved to another seed',
      propagationPolicy: 'Background',
      preconditions,
    });
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

/** The description of an operation while the resource-manager applies its objects. */
export function applying(fluxVersion: string): string {
  return `Applying Flux ${fluxVersion} and its configuration.`;
}

const NO_KUBECONFIG = 'The control plane holds no kubeconfig for the shoot yet.';

/** Why an object that the configuration no longer has stays in the shoot. */
const NOT_OURS =
  'it carries no mark of ours any more, so a user has replaced it; delete it in the shoot if nothing needs it.';

/** Why an object of the configuration is not applied yet. */
function isBeingDeleted({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind} ${namespace}/${name} is being deleted in the shoot and will be recreated afterwards. If this persists, check that the Flux controllers are running.`;
}
