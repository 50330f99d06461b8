import { fluxResource } from '../../../shared/flux/custom-resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isRefused, KubeError, unlessGone } from '../../../shared/kube/errors.ts';
import type { KubeObject, ManagedFields, Resource } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { fieldsAt } from '../../../shared/shapes.ts';
import { fieldManager } from '../read/control-plane.ts';
import { everyObject } from './act.ts';
import { isSuspended, objectRef, servedKinds, steeringKeysPatch } from './objects.ts';

/** The CRDs of the kinds whose objects delete what they have deployed when they are deleted themselves. */
export const pruningCrds = ['kustomizations.kustomize.toolkit.fluxcd.io', 'helmreleases.helm.toolkit.fluxcd.io'];

/**
 * Suspends all Kustomizations and HelmReleases, also those of users, so that Flux deletes no workloads with them.
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
  const isDone = await everyObject(shoot, resource, { isTimeUp }, (item) => !isSuspended(item), suspend);
  if (refusal !== undefined) throw refusal;
  return isDone;
}

/**
 * Resumes what `suspendAll` has suspended, except objects that are being deleted.
 * @returns false when the time was up before all of them were resumed
 */
export async function resumeAll(shoot: KubeClient, isTimeUp: () => boolean): Promise<boolean> {
  for (const resource of await servedKinds(shoot, pruningCrds)) {
    const resume = ({ metadata }: KubeObject) =>
      unlessGone(shoot.mergePatch(resource, metadata, { spec: { suspend: null } }, { fieldManager }));
    if (!(await everyObject(shoot, resource, { isTimeUp }, isToResume, resume))) return false;
  }
  return true;
}

/** `managedFields` names the writer of every field, also for a merge patch. */
function isToResume(object: KubeObject): boolean {
  const { deletionTimestamp, managedFields = [] } = object.metadata;
  const isOurs = ({ manager, operation, fieldsV1 }: ManagedFields) =>
    manager === fieldManager && operation === 'Update' && fieldsAt(fieldsV1, 'f:spec')?.['f:suspend'] !== undefined;
  return deletionTimestamp === undefined && isSuspended(object) && managedFields.some(isOurs);
}

/**
 * Returns the refs of those Kustomizations and HelmReleases that are suspended in the shoot, or gone. The
 * resource-manager skips objects with some annotations, so others are suspended here; the answer counts, because a
 * webhook of the shoot may revert the patch.
 */
export async function confirmSuspended(shoot: KubeClient, objects: KubeObject[]): Promise<Set<string>> {
  const confirmed = await inParallel(objects, async (object) => {
    // In the version of the content that was applied, which the shoot serves.
    const resource = fluxResource(object);
    const live = await shoot.find(resource, object.metadata);
    return live === undefined || isSuspended(await suspended(shoot, resource, live));
  });
  return new Set(objects.filter((_, index) => confirmed[index] === true).map(objectRef));
}

async function suspended(shoot: KubeClient, resource: Resource, live: KubeObject): Promise<KubeObject> {
  const metadata = steeringKeysPatch(live);
  if (isSuspended(live) && metadata === undefined) return live;
  const patch = { spec: { suspend: true }, ...(metadata && { metadata }) };
  const patched = await unlessGone(shoot.mergePatch(resource, live.metadata, patch, { fieldManager }));
  return patched ?? { ...live, spec: { suspend: true } };
}
