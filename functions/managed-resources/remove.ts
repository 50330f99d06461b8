import { shootClient } from '../../shared/gardener/shoot-client.ts';
import { FINALIZER, type ManagedResource } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { NotFoundError } from '../../shared/kube/errors.ts';
import { type Resource, resources } from '../../shared/kube/resource.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { readManagedResources, readSecretNames } from './read.ts';
import type { Run } from './run.ts';
import { fieldManager, RESOURCE_MANAGER_FINALIZER, release } from './write.ts';

/** The next look, should the watch miss that a ManagedResource is gone. */
const LOOK_AGAIN_SECONDS = 2;

/** The extension leaves the Shoot: Flux and what it deployed stay in the shoot, the control plane is left clean. */
export async function remove(run: Run): Promise<Outcome> {
  // Trap 39: without our finalizer the object is vanishing already.
  if (run.extension.metadata.finalizers?.includes(FINALIZER) !== true) return done;
  if (!(await releaseAll(run, 'Releasing Flux; its objects stay in the shoot.')))
    return requeueAfter(LOOK_AGAIN_SECONDS);
  await run.reporter.succeeded('Flux is released.');
  await run.reporter.letGo('own');
  return done;
}

/** The control plane moves to another seed: let go without touching an object in the shoot. */
export async function migrate(run: Run): Promise<Outcome> {
  if (!(await releaseAll(run, 'Releasing the ManagedResources for the migration.')))
    return requeueAfter(LOOK_AGAIN_SECONDS);
  await run.reporter.succeeded('Migrated.');
  await run.reporter.letGo('all');
  await run.reporter.finish();
  return done;
}

/**
 * The Shoot is being deleted: everything is released at once, or the resource-manager would re-create CRDs against
 * gardenlet's clean-up; Kustomizations and HelmReleases are suspended, or Flux would re-create what is being cleaned.
 */
export async function yieldToShootDeletion(run: Run): Promise<Outcome> {
  await run.reporter.accept();
  const gone = await releaseAll(run);
  await suspendAll(run);
  if (!gone) return requeueAfter(LOOK_AGAIN_SECONDS);
  await run.reporter.succeeded('The Shoot is being deleted; Flux is released.');
  return done;
}

/**
 * Releases our ManagedResources and deletes their Secrets; true when nothing is left.
 * @param description reported while there is something to release: who was killed after the success does not go back
 */
async function releaseAll(run: Run, description?: string): Promise<boolean> {
  const { seed, namespace } = run;
  const live = await readManagedResources(seed, namespace);
  if (live.size > 0 && description !== undefined) await run.reporter.processing(description);
  for (const resource of live.values()) {
    await release(seed, resource);
    // No resource-manager runs while the Shoot sleeps: nobody else would ever take its finalizer away.
    if (run.cluster.spec.shoot.status?.hibernated === true) await stripFinalizer(seed, resource);
  }
  if (live.size > 0) return false;
  for (const name of await readSecretNames(seed, namespace)) await seed.delete(resources.secrets, { namespace, name });
  return true;
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

const toolkit = (group: string, version: string, plural: string, kind: string): Resource => ({
  group: `${group}.toolkit.fluxcd.io`,
  version,
  plural,
  kind,
  namespaced: true,
});

/** Best effort: a shoot API that cannot be asked must not hold the deletion up. */
async function suspendAll(run: Run): Promise<void> {
  try {
    const shoot = await shootClient(run.seed, run.namespace, run.context.settings.shootAccess);
    if (shoot === undefined) return;
    try {
      await suspendKind(shoot, toolkit('kustomize', 'v1', 'kustomizations', 'Kustomization'));
      await suspendKind(shoot, toolkit('helm', 'v2', 'helmreleases', 'HelmRelease'));
    } finally {
      shoot.close();
    }
  } catch (error) {
    run.context.log.warn('Kustomizations and HelmReleases not suspended', { error: describeError(error) });
  }
}

async function suspendKind(shoot: KubeClient, resource: Resource): Promise<void> {
  let items: Awaited<ReturnType<KubeClient['list']>>['items'];
  try {
    ({ items } = await shoot.list(resource));
  } catch (error) {
    if (error instanceof NotFoundError) return;
    throw error;
  }
  for (const { metadata, spec } of items) {
    if ((spec as { suspend?: boolean } | undefined)?.suspend === true) continue;
    await shoot.mergePatch(resource, metadata, { spec: { suspend: true } }, { fieldManager });
  }
}
