import type { ManagedResource } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { resources } from '../../shared/kube/resource.ts';

/** Why a sync mode drops a ManagedResource, for the log. */
export const RELEASED = 'the sync mode no longer follows it';

/** The field manager of everything that this function writes. */
export const fieldManager = 'shoot-flux-managed-resources';

/**
 * Stops managing a ManagedResource; its objects stay in the shoot: sets `keepObjects: true`, then deletes it. Safe to
 * repeat: one that is being deleted only gets its missing `keepObjects`.
 * @param reason for the log
 * @throws ConflictError when it has changed since it was read
 */
export async function release(seed: KubeClient, live: ManagedResource, reason: string): Promise<void> {
  const kept = live.spec.keepObjects === true ? live : await keepObjects(seed, live);
  await deleteManagedResource(seed, kept, `${reason}; its objects stay in the shoot`);
}

function keepObjects(seed: KubeClient, { metadata }: ManagedResource): Promise<ManagedResource> {
  const { resourceVersion } = metadata;
  const patch = { metadata: { resourceVersion }, spec: { keepObjects: true } };
  return seed.mergePatch(resources.managedResources, metadata, patch, { fieldManager });
}

/**
 * Deletes a ManagedResource together with its objects, unless it keeps them.
 * @param reason for the log
 * @throws ConflictError when it has changed since it was read: another run may want the objects, or keep them
 */
export async function deleteManagedResource(seed: KubeClient, live: ManagedResource, reason: string): Promise<void> {
  const { uid, resourceVersion, deletionTimestamp } = live.metadata;
  if (deletionTimestamp !== undefined) return;
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  await seed.delete(resources.managedResources, live.metadata, { reason, preconditions });
}
