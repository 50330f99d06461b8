import { isTrue, KEEP_OBJECT, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { Applied, OperationType } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { ConflictError, unless } from '../../../shared/kube/errors.ts';
import type { Resource } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import type { Outcome } from '../../../shared/runtime/outcome.ts';
import type { Plan } from '../plan/plan.ts';
import { type ControlPlane, fieldManager, readRecord } from '../read/control-plane.ts';
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
 * names them, the plan does not. Until all of the plan is applied, each change of it counts, because the new
 * resource-manager may never have applied what it replaces.
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
 * applied. The surplus is recorded first, and deleted once everything is applied; each run tries again until it is gone.
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
  const sentence = await withShoot(run, async (shoot) => {
    for (const object of returning) {
      const live = await shoot.find(resourceOf(object, kinds), object.metadata, { metadataOnly: true });
      if (live?.metadata.deletionTimestamp === undefined) continue;
      const { namespace, name } = object.metadata;
      return `${object.kind} ${namespace}/${name} is being deleted in the shoot and will be recreated afterwards. If this persists, check that the Flux controllers are running.`;
    }
    return '';
  });
  if (sentence === '') return undefined;
  return waitFor(run, sentence ?? 'The control plane holds no kubeconfig for the shoot yet.');
}

/**
 * Deletes the surplus, Flux's own objects first: while one of them is left, the controllers and all others stay.
 * @returns the refs of what is still in the shoot
 */
async function deleteFormer(run: Run, { fluxRelease }: Plan, surplus: string[]): Promise<string[]> {
  const kinds = kindsOf(fluxRelease);
  const left = await tryInShoot(run, 'objects not deleted in the shoot', async (shoot) => {
    for (const ref of surplus.filter(isPruningRef)) await suspendOne(run, shoot, ref, kinds);
    const deleteAll = async (refs: string[]) => {
      const areLeft = await inParallel(refs, (ref) => isLeft(run, shoot, ref, kinds));
      return refs.filter((_, index) => areLeft[index] === true);
    };
    const others = surplus.filter((ref) => !isFluxRef(ref));
    const ofFlux = await deleteAll(surplus.filter(isFluxRef));
    return ofFlux.length > 0 ? [...ofFlux, ...others] : deleteAll(others);
  });
  return left ?? surplus;
}

type Kinds = Record<string, Resource>;

/**
 * Says, after an object was read, whether it is still a surplus: a run that was overtaken must not act any more, and the
 * resource-manager would not notice for an hour that it has deleted what came back.
 */
async function isDue(run: Run, ref: string): Promise<boolean> {
  return (await readRecord(run))?.surplus?.includes(ref) === true;
}

/** Suspends an object that would otherwise delete its workloads. */
async function suspendOne(run: Run, shoot: KubeClient, ref: string, kinds: Kinds): Promise<void> {
  const { type, name } = parseRef(ref);
  const resource = kinds[type];
  const live = resource && (await shoot.find(resource, name));
  if (!resource || live === undefined || isSuspended(live) || !carriesOurMark(live) || !(await isDue(run, ref))) return;
  const { resourceVersion } = live.metadata;
  await shoot.mergePatch(resource, name, { metadata: { resourceVersion }, spec: { suspend: true } }, { fieldManager });
}

/**
 * Deletes the object that was read, and no other one that has taken its name since.
 * @returns true when it is deleted later: it waits for a finalizer, or is not suspended yet
 */
async function isLeft(run: Run, shoot: KubeClient, ref: string, kinds: Kinds): Promise<boolean> {
  const { type, name } = parseRef(ref);
  const resource = kinds[type];
  const isPruning = isPruningRef(ref);
  const live = resource && (await shoot.find(resource, name, { metadataOnly: !isPruning }));
  if (!resource || live === undefined || isTrue(live.metadata.annotations?.[KEEP_OBJECT])) return false;
  const { deletionTimestamp, uid, resourceVersion } = live.metadata;
  if (deletionTimestamp !== undefined) return true;
  if (!carriesOurMark(live)) {
    const error =
      'it carries no mark of ours any more, so a user has replaced it; delete it in the shoot if nothing needs it.';
    run.context.log.warn('object left in the shoot', { object: ref, error });
    return false;
  }
  // A webhook of the shoot may have reverted the suspension.
  if ((isPruning && !isSuspended(live)) || !(await isDue(run, ref))) return true;
  // As it was read: suspended. The state of other objects changes all the time.
  const preconditions = { ...(uid && { uid }), ...(isPruning && resourceVersion && { resourceVersion }) };
  const reason = 'it left the configuration while the Shoot moved to another seed';
  const deletion = shoot.delete(resource, name, { reason, propagationPolicy: 'Background', preconditions });
  if ((await unless(deletion, ConflictError)) === undefined) return true;
  return (await shoot.find(resource, name, { metadataOnly: true })) !== undefined;
}

/** The description of an operation while the resource-manager applies its objects. */
export function applying(fluxVersion: string): string {
  return `Applying Flux ${fluxVersion} and its configuration.`;
}
