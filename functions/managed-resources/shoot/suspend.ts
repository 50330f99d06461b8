import type { KubeClient } from '../../../shared/kube/client.ts';
import { isRefused, KubeError, unlessGone } from '../../../shared/kube/errors.ts';
import type { KubeObject, ManagedFields, Resource } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { isSuspended } from '../objects.ts';
import { fieldManager } from '../release.ts';
import { servedKinds } from './kinds.ts';
import { everyPage } from './pages.ts';

/** The CRDs of the kinds whose objects delete what they have deployed when they are deleted themselves. */
export const pruningCrds = ['kustomizations.kustomize.toolkit.fluxcd.io', 'helmreleases.helm.toolkit.fluxcd.io'];

/**
 * Suspends all Kustomizations and HelmReleases, also those of users: Flux deletes a suspended one without deleting its
 * workloads (docs/flux-facts.md).
 * @param crds names of their CRDs
 * @returns false when the time was up before all of them were suspended
 */
export async function suspendAll(shoot: KubeClient, isTimeUp: () => boolean, crds = pruningCrds): Promise<boolean> {
  const kinds = await servedKinds(shoot, crds);
  const areSuspended = await inParallel(kinds, (resource) => suspendKind(shoot, resource, isTimeUp));
  return !areSuspended.includes(false);
}

async function suspendKind(shoot: KubeClient, resource: Resource, isTimeUp: () => boolean): Promise<boolean> {
  let refusal: KubeError | undefined;
  const suspend = async ({ metadata }: KubeObject) => {
    try {
      await unlessGone(shoot.mergePatch(resource, metadata, { spec: { suspend: true } }, { fieldManager }));
    } catch (error) {
      // One object that a webhook or its schema rejects must not keep the others active.
      if (!(error instanceof KubeError) || !isRefused(error)) throw error;
      refusal ??= error;
    }
  };
  const isDone = await everyPage(shoot, resource, { isTimeUp }, async (items) => {
    const active = items.filter((item) => !isSuspended(item));
    const done = await inParallel(active, suspend, isTimeUp);
    return done.length === active.length;
  });
  if (refusal !== undefined) throw refusal;
  return isDone;
}

/**
 * Resumes what `suspendAll` has suspended. Objects that were suspended before, and objects that are being deleted, stay
 * suspended.
 * @returns false when the time was up before all of them were resumed
 */
export async function resumeAll(shoot: KubeClient, isTimeUp: () => boolean): Promise<boolean> {
  for (const resource of await servedKinds(shoot, pruningCrds)) {
    const resume = ({ metadata }: KubeObject) =>
      unlessGone(shoot.mergePatch(resource, metadata, { spec: { suspend: null } }, { fieldManager }));
    const isDone = await everyPage(shoot, resource, { isTimeUp }, async (items) => {
      const ours = items.filter((item) => item.metadata.deletionTimestamp === undefined && isSuspendedByUs(item));
      const done = await inParallel(ours, resume, isTimeUp);
      return done.length === ours.length;
    });
    if (!isDone) return false;
  }
  return true;
}

/** `managedFields` names the writer of every field, also for a merge patch. */
function isSuspendedByUs(object: KubeObject): boolean {
  const { managedFields = [] } = object.metadata;
  return isSuspended(object) && managedFields.some((entry) => entry.operation === 'Update' && hasOurSuspend(entry));
}

function hasOurSuspend({ manager, fieldsV1 }: ManagedFields): boolean {
  const spec = fieldsV1?.['f:spec'] as Record<string, unknown> | undefined;
  return manager === fieldManager && spec?.['f:suspend'] !== undefined;
}
