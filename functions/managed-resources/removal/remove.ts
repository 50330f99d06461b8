import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import { type Applied, FINALIZER, type ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { describeError } from '../../../shared/runtime/describe-error.ts';
import { done, type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { readLeaving, readSecretNames } from '../read.ts';
import type { Run } from '../run.ts';
import { servedKinds } from '../served.ts';
import { fieldManager, RESOURCE_MANAGER_FINALIZER, release } from '../write.ts';
import { finalizeDeleted } from './finalizers.ts';
import { cleanUpLookSeconds, type Removal, removal } from './removal.ts';
import { pruningCrds, resumeAll, suspendAll } from './suspend.ts';
import { type Uninstalled, uninstall } from './uninstall.ts';

/** A shoot API that never answers leaves the run enough of its ten seconds to end in. */
const BEST_EFFORT_MS = 3000;
/** The next look, should the watch miss that a ManagedResource is gone. */
const LOOK_AGAIN_SECONDS = 2;
/** The next attempt to resume what we have suspended, in a shoot that could not be asked. */
const RESUME_AGAIN_SECONDS = 10;

/** The extension leaves the Shoot: the control plane is left clean, and Flux goes or stays as the policy says. */
export async function remove(run: Run): Promise<Outcome> {
  // Trap 39: without our finalizer the object is vanishing already.
  if (run.extension.metadata.finalizers?.includes(FINALIZER) !== true) return done;
  const plan = removal(run.extension, run.cluster, run.context.now());
  // The resource-manager would bring back what is removed: it lets go first.
  await begin(run, 'Releasing Flux; its objects stay in the shoot for now.');
  const left = await releaseAll(run, plan);
  const { awaited, gone = [] } = plan.uninstall ? await uninstallFrom(run, plan.uninstall) : {};
  if (awaited !== undefined) {
    // Nobody brings back what has gone since: it need not be looked for again, which a slow API server has no time for.
    const applied = plan.uninstall && left.length === 0 && gone.length > 0 ? without(plan.uninstall, gone) : undefined;
    await run.reporter.processing(awaited, { applied });
  } else await tellHeld(run, plan, left);
  // What a last pass of the resource-manager has brought back is found by a last look of ours.
  if (awaited !== undefined || left.length > 0) return requeueAfter(LOOK_AGAIN_SECONDS);
  if (plan.resumes !== undefined) {
    const isResumed = await inShoot(run, NOT_RESUMED, async (shoot) => {
      await resumeAll(shoot, await servedKinds(shoot, pruningCrds));
      return true;
    });
    if (isResumed === undefined && plan.resumes === 'must') return requeueAfter(RESUME_AGAIN_SECONDS);
  }
  if (plan.stays !== undefined) run.context.log.warn('Flux stays in the shoot', { reason: plan.stays });
  await run.reporter.succeeded(plan.uninstall === undefined ? (plan.stays ?? 'Flux is released.') : 'Flux is removed.');
  await run.reporter.letGo('own');
  return done;
}

function without(applied: Applied, gone: string[]): Applied {
  const rest = Object.entries(applied.objects).map(([name, refs]) => [name, refs.filter((ref) => !gone.includes(ref))]);
  return { ...applied, objects: Object.fromEntries(rest) };
}

/** An API that cannot be asked is tried again, until `removal` gives up. */
async function uninstallFrom(run: Run, applied: Applied): Promise<Partial<Uninstalled>> {
  const found = await withShoot(run, async (shoot) => {
    try {
      return await uninstall(shoot, applied, run.context.now(), run.isTimeUp);
    } catch (error) {
      // While a CRD goes, its objects cannot be asked for: "storage is (re)initializing".
      if (error instanceof KubeError && error.status === 429) return { awaited: "Waiting for the shoot's API server." };
      throw error;
    }
  });
  return found ?? { awaited: 'The control plane holds no kubeconfig for the shoot; it is awaited to remove Flux.' };
}

/** The control plane moves to another seed: let go without touching an object in the shoot. */
export async function migrate(run: Run): Promise<Outcome> {
  await begin(run, 'Releasing the ManagedResources for the migration.');
  const plan = removal(run.extension, run.cluster, run.context.now());
  const left = await releaseAll(run, plan);
  if (left.length > 0) {
    await tellHeld(run, plan, left);
    return requeueAfter(LOOK_AGAIN_SECONDS);
  }
  await run.reporter.succeeded('Migrated.');
  await run.reporter.letGo('all');
  return done;
}

/**
 * The Shoot is being deleted: everything is released at once, or the resource-manager would re-create CRDs against
 * gardenlet's clean-up; Kustomizations and HelmReleases are suspended, or Flux would re-create what is being cleaned.
 * Until Flux's CRDs are gone nothing else wakes us when they hang.
 */
export async function yieldToShootDeletion(run: Run): Promise<Outcome> {
  await run.reporter.accept();
  const left = await releaseAll(run, removal(run.extension, run.cluster, run.context.now()));
  const isCleaned = await inShoot(run, NOT_SUSPENDED, async (shoot) => {
    const cleaned = await finalizeDeleted(shoot, run.isTimeUp);
    await suspendAll(shoot, await servedKinds(shoot, pruningCrds), run.isTimeUp);
    return cleaned;
  });
  if (left.length > 0) return requeueAfter(LOOK_AGAIN_SECONDS);
  await run.reporter.succeeded('The Shoot is being deleted; Flux is released.');
  await run.reporter.finish();
  return isCleaned === true ? done : requeueAfter(cleanUpLookSeconds(run.cluster, run.context.now()));
}

/** Reports that the operation has begun, once: who comes again goes back neither from a success nor from an error. */
async function begin({ reporter, operation }: Run, description: string): Promise<void> {
  if (reporter.current().status?.lastOperation?.type !== operation) await reporter.processing(description);
}

/** Releases our ManagedResources and deletes their Secrets; those that were still there. */
async function releaseAll(run: Run, { stripFinalizers }: Removal): Promise<ManagedResource[]> {
  const { seed, namespace } = run;
  const live = await readLeaving(seed, namespace);
  for (const resource of live) {
    await release(seed, resource);
    if (stripFinalizers) await stripFinalizer(seed, resource);
  }
  if (live.length > 0) return live;
  for (const name of await readSecretNames(seed, namespace)) await seed.delete(resources.secrets, { namespace, name });
  return [];
}

/** What only somebody else can end is told when gardenlet has waited for a while. */
async function tellHeld({ reporter }: Run, { isOverdue }: Removal, left: ManagedResource[]): Promise<void> {
  const [held] = left.flatMap(({ metadata: { namespace, name, finalizers = [] } }) =>
    finalizers
      .filter((finalizer) => finalizer !== RESOURCE_MANAGER_FINALIZER)
      .map((finalizer) => `ManagedResource ${namespace}/${name} does not go because of its finalizer ${finalizer}`),
  );
  if (!isOverdue || held === undefined) return;
  await reporter.failed(`${held}; whoever has put it there has to take it away.`, []);
}

async function stripFinalizer(seed: KubeClient, resource: ManagedResource): Promise<void> {
  const { namespace, name } = resource.metadata;
  const live = await seed.find<ManagedResource>(resources.managedResources, { namespace, name });
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

const NOT_RESUMED = 'Kustomizations and HelmReleases not resumed';
const NOT_SUSPENDED = 'Kustomizations and HelmReleases not suspended';

/** Best effort: a shoot API that cannot be asked must not hold anything up. Then the answer is undefined. */
async function inShoot<T>(run: Run, failure: string, act: (shoot: KubeClient) => Promise<T>): Promise<T | undefined> {
  try {
    return await withShoot(run, act, { timeoutMs: BEST_EFFORT_MS });
  } catch (error) {
    run.context.log.warn(failure, { error: describeError(error) });
    return undefined;
  }
}
