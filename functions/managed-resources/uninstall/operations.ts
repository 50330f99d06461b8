import { seconds } from '../../../shared/gardener/operation.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import { type Applied, FINALIZER, type ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { describeError } from '../../../shared/runtime/describe-error.ts';
import { done, type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { claimRef, namespaceRef, refsToUnprotect } from '../plan/protection.ts';
import { findManagedResource, readRemainingManagedResources, readSecretNames } from '../read/control-plane.ts';
import { installedFlux } from '../read/installed-flux.ts';
import { fieldManager, release } from '../release.ts';
import { type Run, waitOn } from '../run.ts';
import { restartOperator } from '../shoot/adopt.ts';
import { removeProtection } from '../shoot/remove-protection.ts';
import { resumeAll, suspendAll } from '../shoot/suspend.ts';
import { cleanupRecheckSeconds, decideRemoval, type Removal } from './decide.ts';
import { finalizeDeleted } from './finalizers.ts';
import { type Uninstalled, uninstall } from './uninstall.ts';

/** Finalizer of the resource-manager on ManagedResources without a class (rule 3). */
const RESOURCE_MANAGER_FINALIZER = 'resources.gardener.cloud/gardener-resource-manager';

/** A shoot API that never answers leaves the run enough of its ten seconds to end. */
const BEST_EFFORT_MS = 3000;
/** The next attempt to resume suspended objects in a shoot that did not answer. */
const RESUME_AGAIN_SECONDS = 10;

/** Handles Delete: cleans up the control plane, and removes Flux from the shoot or leaves it, as the policy says. */
export async function remove(run: Run): Promise<Outcome> {
  const { context, cluster, reporter } = run;
  // Trap 39: without our finalizer the Extension is vanishing already.
  if (reporter.current().metadata.finalizers?.includes(FINALIZER) !== true) return done;
  // Release first: the resource-manager would recreate the objects that are removed.
  await reportBegun(run, 'Releasing Flux; its objects stay in the shoot for now.');
  await recordBegin(run);
  const asked = decideRemoval(reporter.current(), cluster, context.now());
  const remaining = await releaseAll(run, asked);
  const removal = await unlessForeign(run, asked);
  const isUninstalled = await uninstallIfDue(run, removal, remaining.length === 0);
  if (isUninstalled) await reportForeignFinalizer(run, removal, remaining);
  // A last attempt of the resource-manager may have recreated objects; the next run finds them.
  if (!isUninstalled || remaining.length > 0) return requeueAfter(removal.recheckInSeconds);
  const again = await secondsUntilResumed(run, removal);
  if (again !== undefined) return requeueAfter(again);
  if (!(await isUnprotected(run, removal))) return requeueAfter(removal.recheckInSeconds);
  await reportRemoved(run, removal);
  await reporter.removeFinalizers('own');
  return done;
}

/** A Flux that others manage now, since a sync mode has released ours, stays: it is not the one that we have recorded. */
async function unlessForeign(run: Run, removal: Removal): Promise<Removal> {
  const { uninstall: _, ...leaving } = removal;
  if (removal.uninstall === undefined) return removal;
  const { foreign } = (await withShoot(run, installedFlux)) ?? {};
  if (foreign === undefined) return removal;
  const staysBecause = `Flux in this Shoot is managed by ${foreign.manager}, so it stays in the shoot.`;
  // An attempt that came before its mark may have suspended objects.
  return { ...leaving, staysBecause, resumes: 'must' };
}

/**
 * Removes Flux from the shoot where the policy says so, and reports what it waits for.
 * @param areReleased true when no ManagedResource is left
 * @returns true when nothing is left to remove
 */
async function uninstallIfDue(run: Run, removal: Removal, areReleased: boolean): Promise<boolean> {
  if (removal.uninstall === undefined) return true;
  const { awaited, gone = [] } = await uninstallFrom(run, removal.uninstall);
  if (awaited === undefined) return true;
  // Once everything is released, an object that is gone stays gone. Dropped from the record, it is not looked for again,
  // for which a slow API server has no time.
  const isSettled = areReleased && gone.length > 0;
  const applied = isSettled ? withoutObjects(removal.uninstall, gone) : undefined;
  await run.reporter.processing(awaited, { applied });
  return false;
}

/** Resumes what an earlier run may have suspended; returns when to try again, if that comes first. */
async function secondsUntilResumed(run: Run, { resumes, isOver }: Removal): Promise<number | undefined> {
  if (resumes === undefined) return undefined;
  const isResumed = await tryInShoot(run, NOT_RESUMED, (shoot) => resumeAll(shoot, run.isTimeUp));
  // The shoot answers, and has more objects than fit into one run: suspended, they would stay so for ever.
  if (isResumed === false && isOver !== true) return 1;
  return isResumed === undefined && resumes === 'must' ? RESUME_AGAIN_SECONDS : undefined;
}

/**
 * Removes the protection from what stays in the shoot, so that the user's Kustomizations can manage it: from Flux, or from its
 * namespace, where users may have objects of their own.
 * @returns false when it has to be tried again
 */
async function isUnprotected(run: Run, { uninstall: removed, isLost }: Removal): Promise<boolean> {
  const { applied, adopting = [] } = run.reporter.current().status?.state ?? {};
  const recorded = applied?.protected === true ? applied : undefined;
  const refs =
    recorded && (removed === undefined ? refsToUnprotect(recorded) : [namespaceRef(recorded), claimRef(recorded)]);
  const all = [...new Set([...(refs ?? []), ...adopting])];
  if (all.length === 0) return true;
  const isDone = await tryInShoot(run, NOT_UNPROTECTED, async (shoot) => {
    if (adopting.length > 0) await restartOperator(shoot);
    return removeProtection(shoot, all, run);
  });
  return isDone === true || isLost;
}

/** Records when the removal of Flux began, once, so that neither a killed run nor gardenlet's next request restarts it. */
async function recordBegin({ context, cluster, reporter }: Run): Promise<void> {
  const now = context.now();
  const { uninstall: applied } = decideRemoval(reporter.current(), cluster, now);
  if (applied === undefined || applied.removalBegan !== undefined) return;
  await reporter.record({ ...applied, removalBegan: seconds(now.getTime()) });
}

async function reportRemoved({ context, reporter }: Run, { uninstall: removed, staysBecause }: Removal): Promise<void> {
  if (staysBecause !== undefined) context.log.warn('flux left in the shoot', { reason: staysBecause });
  const released = staysBecause ?? 'Flux is released.';
  await reporter.succeeded(removed === undefined ? released : 'Flux is removed.');
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
 * Handles every operation while the Shoot is being deleted. Releases everything at once, or the resource-manager would
 * recreate CRDs against gardenlet's cleanup; suspends Kustomizations and HelmReleases, or Flux would recreate their
 * workloads. Requeues until Flux's CRDs are gone: if they hang, no event wakes this function.
 */
export async function yieldToShootDeletion(run: Run): Promise<Outcome> {
  const { context, cluster, reporter } = run;
  await reporter.accept();
  const removal = decideRemoval(reporter.current(), cluster, context.now());
  const remaining = await releaseAll(run, removal);
  const isClean = await tryInShoot(run, NOT_SUSPENDED, async (shoot) => {
    const isWithoutCrds = await finalizeDeleted(shoot, run.isTimeUp);
    await suspendAll(shoot, run.isTimeUp);
    return isWithoutCrds;
  });
  if (remaining.length > 0) return waitOn(run, cluster.spec.shoot.metadata.deletionTimestamp, 2);
  await reporter.succeeded('The Shoot is being deleted; Flux is released.');
  await reporter.finish();
  return isClean === true ? done : requeueAfter(cleanupRecheckSeconds(cluster, context.now()));
}

/** Reports that the operation has begun, once: a repeated run must not replace a success or an error. */
async function reportBegun({ reporter, operation }: Run, description: string): Promise<void> {
  if (reporter.current().status?.lastOperation?.type !== operation) await reporter.processing(description);
}

/**
 * Releases our ManagedResources, and deletes their Secrets once all are gone.
 * @returns the ManagedResources that were still there
 */
async function releaseAll({ seed, namespace }: Run, { removesFinalizers }: Removal): Promise<ManagedResource[]> {
  const live = await readRemainingManagedResources(seed, namespace);
  for (const resource of live) {
    await release(seed, resource, 'the extension leaves this control plane');
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
  const [held] = remaining.flatMap(({ metadata: { namespace, name, finalizers = [] } }) =>
    finalizers
      .filter((finalizer) => finalizer !== RESOURCE_MANAGER_FINALIZER)
      .map(
        (finalizer) => `ManagedResource ${namespace}/${name} cannot be deleted because of its finalizer ${finalizer}`,
      ),
  );
  if (!isOverdue || held === undefined) return;
  await reporter.failed(`${held}; the controller that added the finalizer has to remove it.`, []);
}

async function removeResourceManagerFinalizer(seed: KubeClient, resource: ManagedResource): Promise<void> {
  const { namespace, name } = resource.metadata;
  const live = await findManagedResource(seed, { namespace, name });
  if (live?.metadata.deletionTimestamp === undefined) return;
  const finalizers = (live.metadata.finalizers ?? []).filter((finalizer) => finalizer !== RESOURCE_MANAGER_FINALIZER);
  const { resourceVersion } = live.metadata;
  await seed.mergePatch(
    resources.managedResources,
    { namespace, name },
    { metadata: { finalizers, resourceVersion } },
    { fieldManager },
  );
}

const NOT_RESUMED = 'resuming kustomizations and helmreleases failed';
const NOT_UNPROTECTED = 'removing the protection of flux failed';
const NOT_SUSPENDED = 'suspending kustomizations and helmreleases failed';

/** Tries to act in the shoot; undefined when the shoot does not answer, which must not hold anything up. */
async function tryInShoot<T>(
  run: Run,
  failure: string,
  act: (shoot: KubeClient) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await withShoot(run, act, { timeoutMs: BEST_EFFORT_MS });
  } catch (error) {
    run.context.log.warn(failure, { error: describeError(error) });
    return undefined;
  }
}

/** Returns a record that no longer names these objects. */
function withoutObjects(applied: Applied, gone: readonly string[]): Applied {
  const rest = Object.entries(applied.objects).map(([name, refs]) => [name, refs.filter((ref) => !gone.includes(ref))]);
  return { ...applied, objects: Object.fromEntries(rest) };
}
