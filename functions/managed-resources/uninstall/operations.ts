import type { DeletionPolicy } from '../../../shared/config/types.ts';
import { isOurs } from '../../../shared/gardener/gate.ts';
import { isTrue, managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import { seconds } from '../../../shared/gardener/operation.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import {
  type Applied,
  type Cluster,
  type Extension,
  FINALIZER,
  type ManagedResource,
  TIMESTAMP_ANNOTATION,
} from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { growingPause, secondsSince } from '../../../shared/runtime/growing-pause.ts';
import { done, type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { writtenDeletionPolicy } from '../plan/deletion-policy.ts';
import { isBootstrapped, updateScope } from '../plan/scope.ts';
import {
  fieldManager,
  findManagedResource,
  readManagedResources,
  readRemainingManagedResources,
  readSecretNames,
  releaseObjects,
} from '../read/control-plane.ts';
import { oldestDeletion, type Run, waitOn } from '../run.ts';
import { tryInShoot } from '../shoot/act.ts';
import { restartOperator } from '../shoot/adopt.ts';
import { installedFlux } from '../shoot/installed-flux.ts';
import { claimRef, namespaceRef, refsToUnprotect, removeProtection } from '../shoot/protection.ts';
import { resumeAll, suspendAll } from '../shoot/suspend.ts';
import { finalizeDeleted, type Uninstalled, uninstall } from './uninstall.ts';

/** Finalizer of the resource-manager on ManagedResources without a class (rule 3). */
const RESOURCE_MANAGER_FINALIZER = 'resources.gardener.cloud/gardener-resource-manager';

/** A shoot API that never answers leaves the run enough of its ten seconds to end. */
const BEST_EFFORT = { timeoutMs: 3000 };
/** The next attempt to resume suspended objects in a shoot that did not answer. */
const RESUME_AGAIN_SECONDS = 10;

/**
 * Handles Delete: cleans up the control plane, and removes Flux from the shoot or leaves it. Each run begins at the top.
 */
export async function remove(run: Run): Promise<Outcome> {
  const { context, cluster, reporter } = run;
  // Trap 39: without our finalizer the Extension is vanishing already.
  if (reporter.current().metadata.finalizers?.includes(FINALIZER) !== true) return done;

  // 1. Report that the removal has begun, and record since when: neither a killed run nor gardenlet's next request restarts it.
  await reportBegun(run, 'Releasing Flux; its objects stay in the shoot for now.');
  const now = context.now();
  const { uninstall: begun } = decideRemoval(reporter.current(), cluster, now);
  if (begun !== undefined && begun.removalBegan === undefined) {
    await reporter.record({ applied: { ...begun, removalBegan: seconds(now.getTime()) } });
  }

  // 2. Release the ManagedResources: the resource-manager would recreate the objects that are removed.
  const asked = decideRemoval(reporter.current(), cluster, context.now());
  const remaining = await releaseAll(run, asked);

  // 3. Remove Flux from the shoot. A last attempt of the resource-manager may have recreated objects; the next run finds them.
  const removal = await unlessForeign(run, asked);
  const isUninstalled = await uninstallIfDue(run, removal, remaining.length === 0);
  if (isUninstalled) await reportForeignFinalizer(run, removal, remaining);
  if (!isUninstalled || remaining.length > 0) return requeueAfter(removal.recheckInSeconds);

  // 4. Resume what an earlier run may have suspended.
  const again = await secondsUntilResumed(run, removal);
  if (again !== undefined) return requeueAfter(again);

  // 5. Remove the protection from what stays.
  if (!(await isUnprotected(run, removal))) return requeueAfter(removal.recheckInSeconds);

  // 6. Report the end, and let the Extension go.
  const { uninstall: removed, staysBecause } = removal;
  if (staysBecause !== undefined) context.log.warn('flux left in the shoot', { reason: staysBecause });
  await reporter.succeeded(removed === undefined ? (staysBecause ?? 'Flux is released.') : 'Flux is removed.');
  await reporter.removeFinalizers('own');
  return done;
}

/** A Flux that others manage now, since a sync mode has released ours, stays: it is not the one that we have recorded. */
async function unlessForeign(run: Run, removal: Removal): Promise<Removal> {
  const { uninstall: _, ...leaving } = removal;
  if (removal.uninstall === undefined) return removal;
  const { foreign } = (await withShoot(run, installedFlux)) ?? {};
  if (foreign === undefined) return removal;
  const staysBecause = `Flux in this Shoot is managed by ${foreign}, so it stays in the shoot.`;
  // An attempt that came before its mark may have suspended objects.
  return { ...leaving, staysBecause, resumes: 'must' };
}

/**
 * Removes Flux from the shoot where the policy says so, and reports what it waits for.
 * @returns true when nothing is left to remove
 */
async function uninstallIfDue(run: Run, { uninstall: applied }: Removal, areReleased: boolean): Promise<boolean> {
  if (applied === undefined) return true;
  const { awaited, gone = [] } = await uninstallFrom(run, applied);
  if (awaited === undefined) return true;
  // Once everything is released, an object that is gone stays gone. Dropped from the record, it is not looked for again,
  // for which a slow API server has no time.
  const isLeft = (ref: string) => !gone.includes(ref);
  const objects = Object.fromEntries(
    Object.entries(applied.objects).map(([name, refs]) => [name, refs.filter(isLeft)]),
  );
  const isSettled = areReleased && gone.length > 0;
  await run.reporter.processing(awaited, isSettled ? { applied: { ...applied, objects } } : {});
  return false;
}

/** Resumes what an earlier run may have suspended; returns when to try again, if that comes first. */
async function secondsUntilResumed(run: Run, { resumes }: Removal): Promise<number | undefined> {
  if (resumes === undefined) return undefined;
  const failure = 'resuming kustomizations and helmreleases failed';
  const isResumed = await tryInShoot(run, failure, (shoot) => resumeAll(shoot, run.isTimeUp), BEST_EFFORT);
  // The shoot answers, and has more objects than fit into one run: suspended, they would stay so for ever.
  if (isResumed === false && resumes !== 'once') return 1;
  return isResumed === undefined && resumes === 'must' ? RESUME_AGAIN_SECONDS : undefined;
}

/**
 * Removes the protection from what stays in the shoot: Flux, or its namespace, where users may have other objects.
 * @returns false when it has to be tried again
 */
async function isUnprotected(run: Run, { uninstall: removed, isLost }: Removal): Promise<boolean> {
  const { applied, adopting = [] } = run.reporter.current().status?.state ?? {};
  const recorded = applied?.protected === true ? applied : undefined;
  const refs =
    recorded && (removed === undefined ? refsToUnprotect(recorded) : [namespaceRef(recorded), claimRef(recorded)]);
  const all = [...new Set([...(refs ?? []), ...adopting])];
  if (all.length === 0) return true;
  const unprotect = async (shoot: KubeClient) => {
    if (adopting.length > 0) await restartOperator(shoot);
    return removeProtection(run, shoot, all);
  };
  const isDone = await tryInShoot(run, 'removing the protection of flux failed', unprotect, BEST_EFFORT);
  return isDone === true || isLost;
}

/** A shoot that does not answer is retried, until `decideRemoval` gives up. */
async function uninstallFrom(run: Run, applied: Applied): Promise<Partial<Uninstalled>> {
  const found = await withShoot(run, async (shoot) => {
    try {
      return await uninstall(shoot, applied, run.context.now(), run.isTimeUp);
    } catch (error) {
      // While a CRD is being deleted, listing its objects fails: "storage is (re)initializing".
      if (error instanceof KubeError && error.status === 429) return { awaited: "Waiting for the shoot's API server." };
      throw error;
    }
  });
  return found ?? { awaited: 'Waiting for a kubeconfig in the control plane to remove Flux from the shoot.' };
}

/** Handles Migrate: the control plane moves to another seed; releases everything and touches no object in the shoot. */
export async function migrate(run: Run): Promise<Outcome> {
  const { context, cluster, reporter } = run;
  await reportBegun(run, 'Releasing the ManagedResources for the migration.');
  const removal = decideRemoval(reporter.current(), cluster, context.now());
  const remaining = await releaseAll(run, removal);
  if (remaining.length > 0) {
    await reportForeignFinalizer(run, removal, remaining);
    return requeueAfter(removal.recheckInSeconds);
  }
  await reporter.succeeded('Migrated.');
  await reporter.removeFinalizers('all');
  return done;
}

/**
 * Handles every operation while the Shoot is being deleted. Releases everything, or the resource-manager would recreate
 * CRDs against gardenlet's cleanup; suspends what Flux would recreate. Requeues until Flux's CRDs are gone.
 */
export async function yieldToShootDeletion(run: Run): Promise<Outcome> {
  const { context, cluster, reporter } = run;
  await reporter.accept();
  const removal = decideRemoval(reporter.current(), cluster, context.now());
  const remaining = await releaseAll(run, removal);
  const clean = async (shoot: KubeClient) => {
    const isWithoutCrds = await finalizeDeleted(shoot, run.isTimeUp);
    await suspendAll(shoot, run.isTimeUp);
    return isWithoutCrds;
  };
  const isClean = await tryInShoot(run, 'suspending kustomizations and helmreleases failed', clean, BEST_EFFORT);
  const { deletionTimestamp } = cluster.spec.shoot.metadata;
  if (remaining.length > 0) return waitOn(run, deletionTimestamp, 2);
  await reporter.succeeded('The Shoot is being deleted; Flux is released.');
  await reporter.finish();
  return isClean === true ? done : waitOn(run, deletionTimestamp, 10);
}

/** Reports that the operation has begun, once: a repeated run must not replace a success or an error. */
async function reportBegun({ reporter, operation }: Run, description: string): Promise<void> {
  if (reporter.current().status?.lastOperation?.type !== operation) await reporter.processing(description);
}

/** Releases our ManagedResources, and deletes their Secrets once all are gone. @returns those that were still there */
async function releaseAll({ seed, namespace }: Run, { removesFinalizers }: Removal): Promise<ManagedResource[]> {
  const live = await readRemainingManagedResources(seed, namespace);
  for (const resource of live) {
    await releaseObjects(seed, resource, 'the extension leaves this control plane');
    if (removesFinalizers) await removeResourceManagerFinalizer(seed, resource);
  }
  if (live.length > 0) return live;
  const reason = 'its ManagedResource is gone with the extension';
  for (const name of await readSecretNames(seed, namespace))
    await seed.delete(resources.secrets, { namespace, name }, { reason });
  return [];
}

/** Reports a finalizer that only another controller or a user can remove, once gardenlet has waited for a while. */
async function reportForeignFinalizer(
  { reporter }: Run,
  { isOverdue }: Removal,
  remaining: ManagedResource[],
): Promise<void> {
  const isForeign = (finalizer: string) => finalizer !== RESOURCE_MANAGER_FINALIZER;
  const held = remaining.find(({ metadata }) => metadata.finalizers?.some(isForeign));
  if (!isOverdue || held === undefined) return;
  const { namespace, name, finalizers } = held.metadata;
  const what = `ManagedResource ${namespace}/${name} cannot be deleted because of its finalizer ${finalizers?.find(isForeign)}`;
  await reporter.failed(`${what}; the controller that added the finalizer has to remove it.`, {}, []);
}

async function removeResourceManagerFinalizer(seed: KubeClient, resource: ManagedResource): Promise<void> {
  const live = await findManagedResource(seed, resource.metadata);
  if (live?.metadata.deletionTimestamp === undefined) return;
  const { finalizers = [], resourceVersion } = live.metadata;
  const others = finalizers.filter((finalizer) => finalizer !== RESOURCE_MANAGER_FINALIZER);
  const patch = { metadata: { finalizers: others, resourceVersion } };
  await seed.mergePatch(resources.managedResources, live.metadata, patch, { fieldManager });
}

/** gardenlet waits three minutes for a deletion or a migration, which nothing configures (rule 1.5). */
const GARDENLET_PATIENCE_SECONDS = 180;
const SHOOT_PATIENCE_SECONDS = 120;
/** After this time, suspended objects that cannot be resumed stay suspended: the last half minute is for releasing. */
const RESUME_PATIENCE_SECONDS = 150;
/** gardenlet repeats a deletion that did not end, and each request has its own patience; all of them together have this. */
const REMOVAL_PATIENCE_SECONDS = 900;
/** A running resource-manager removes its finalizer within seconds. */
const RELEASE_PATIENCE_SECONDS = 60;

const FORCE_DELETION_ANNOTATION = 'confirmation.gardener.cloud/force-deletion';

/** How the extension leaves a Shoot. */
export interface Removal {
  /** The last record, when Flux is removed from the shoot; absent: Flux stays there. */
  uninstall?: Applied;
  /** Why Flux stays against the deletion policy; one sentence. */
  staysBecause?: string;
  /**
   * Set when an earlier run may have suspended objects: the extension leaves when they `must` be resumed, when the shoot
   * `may` not answer, or after `once` where all attempts together have taken too long.
   */
  resumes?: 'must' | 'may' | 'once';
  /** True: no resource-manager will remove its finalizer. With `keepObjects` nothing is lost by removing it ourselves. */
  removesFinalizers: boolean;
  /** True: the shoot is going, does not run, or has not answered for too long; what it cannot take is not waited for. */
  isLost: boolean;
  /** True: releasing takes longer than a running resource-manager needs. */
  isOverdue: boolean;
  /** The next check, in case the watch misses that a ManagedResource is gone; nothing of the shoot sends events. */
  recheckInSeconds: number;
}

/** Decides whether Flux is removed, and which obstacles are not worth waiting for. */
export function decideRemoval(extension: Extension, cluster: Cluster, now: Date): Removal {
  const { shoot } = cluster.spec;
  const waited = secondsSinceAsked(extension, now);
  const isForced = isTrue(shoot.metadata.annotations?.[FORCE_DELETION_ANNOTATION]);
  const isOverdue = waited > RELEASE_PATIENCE_SECONDS;
  const isGoing = isForced || shoot.metadata.deletionTimestamp !== undefined;
  const isHibernated = shoot.spec?.hibernation?.enabled === true;
  const releasing = {
    isOverdue,
    isLost: isGoing || isHibernated || waited > SHOOT_PATIENCE_SECONDS,
    removesFinalizers: isForced || shoot.status?.hibernated === true || isOverdue,
    // Once gardenlet has stopped waiting, only a foreign finalizer is left, which may stay for days.
    recheckInSeconds: waited <= GARDENLET_PATIENCE_SECONDS ? 2 : growingPause(waited, 30),
  };
  const applied = extension.status?.state?.applied;
  // The nodes are gone, or the whole shoot soon is; its API may be gone, too.
  if (applied === undefined || isGoing || deletionPolicy(extension, applied) === 'Orphan') return releasing;
  if (isHibernated) {
    const staysBecause = 'The Shoot is hibernated, so Flux stays in the shoot.';
    return { ...releasing, staysBecause, ...(shoot.status?.hibernated === true ? {} : { resumes: 'may' }) };
  }
  const isOver = secondsSince(applied.removalBegan, now) > REMOVAL_PATIENCE_SECONDS;
  if (isOver || waited > SHOOT_PATIENCE_SECONDS) {
    const seconds = isOver ? REMOVAL_PATIENCE_SECONDS : SHOOT_PATIENCE_SECONDS;
    const staysBecause = `Flux could not be removed within ${seconds} s; the rest of it stays in the shoot.`;
    const resumes = waited > RESUME_PATIENCE_SECONDS ? 'may' : 'must';
    return { ...releasing, staysBecause, resumes: isOver ? 'once' : resumes };
  }
  return { ...releasing, uninstall: applied };
}

/**
 * The policy in the Extension itself counts first: no run may have seen it yet. Then that of the record: the ConfigMap
 * is never read for a removal. Without one, a Flux that the sync mode has released is the user's.
 */
function deletionPolicy(extension: Extension, applied: Applied): DeletionPolicy {
  const written = writtenDeletionPolicy({ providerConfig: extension.spec.providerConfig }) ?? applied.deletionPolicy;
  if (written !== undefined) return written;
  return updateScope(applied.syncMode, isBootstrapped(extension), applied).install ? 'Uninstall' : 'Orphan';
}

/**
 * Counts from gardenlet's last request: it repeats a deletion that did not end in time, with another timestamp and
 * another three minutes (rule 1.5). The second attempt makes up for a first one that found us down or the Shoot Failed.
 */
function secondsSinceAsked({ metadata }: Extension, now: Date): number {
  const asked = [metadata.deletionTimestamp, metadata.annotations?.[TIMESTAMP_ANNOTATION]]
    .map((time) => Date.parse(time ?? ''))
    .filter((millis) => !Number.isNaN(millis));
  return asked.length === 0 ? 0 : (now.getTime() - Math.max(...asked)) / 1000;
}

const RECHECK_SECONDS = 30;

/**
 * Releases our ManagedResources in a control plane without an Extension; Flux stays in the shoot. A run that outlives
 * its lease, or a user who removes our finalizer, leaves them behind, and they would block the Shoot for ever (rule 8).
 */
export async function releaseLeftovers(seed: KubeClient, namespace: string, now: Date): Promise<Outcome> {
  const leftovers = await readManagedResources(seed, namespace, []);
  const secretNames = await readSecretNames(seed, namespace);
  if (leftovers.size + secretNames.size === 0) return done;
  // They may belong to an Extension with another name (decision 3). If listing fails, none is known to be gone.
  const { items } = await seed.list<Extension>(resources.extensions, { namespace });
  if (items.some(isOurs)) return done;
  // Also those that have lost their label; they are only looked for where something else of ours is left.
  const all = await readManagedResources(seed, namespace, Object.values(managedResourceNames));
  const reason = 'the control plane has no Extension of shoot-flux';
  for (const leftover of all.values()) await releaseObjects(seed, leftover, reason);
  if (all.size > 0) return requeueAfter(growingPause(secondsSince(oldestDeletion(all.values()), now), RECHECK_SECONDS));
  for (const name of secretNames) await seed.delete(resources.secrets, { namespace, name }, { reason });
  return done;
}
