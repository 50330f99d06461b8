import { managedResourceManifest, managedResourcePatch } from '../../shared/gardener/managed-resource.ts';
import { contentSecret } from '../../shared/gardener/managed-resource-content.ts';
import type { ManagedResource } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { AlreadyExistsError, ConflictError } from '../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';

export const fieldManager = 'shoot-flux-managed-resources';

/** Finalizer of the resource-manager on ManagedResources without a class (facts 3.1). */
export const RESOURCE_MANAGER_FINALIZER = 'resources.gardener.cloud/gardener-resource-manager';

/**
 * Writes the ManagedResource that refers to a content Secret.
 * @param live what was read of it; undefined: it was not there
 * @throws ConflictError when it is no longer what was read: this run has been overtaken, and with the former content
 * the resource-manager would delete what the newer one brought
 */
export async function writeManagedResource(
  seed: KubeClient,
  namespace: string,
  name: string,
  secretName: string,
  live: ManagedResource | undefined,
): Promise<void> {
  if (live === undefined) return createManagedResource(seed, managedResourceManifest(namespace, name, secretName));
  const patch = managedResourcePatch(live, secretName);
  await seed.mergePatch(resources.managedResources, { namespace, name }, patch, { fieldManager });
}

async function createManagedResource(seed: KubeClient, manifest: KubeObject): Promise<void> {
  try {
    await seed.create(resources.managedResources, manifest, { fieldManager });
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    throw new ConflictError(error.message, error.status, error.reason, { cause: error });
  }
}

/** The name carries the content's hash, so a Secret that exists already is the right one. */
export async function writeContent(
  seed: KubeClient,
  namespace: string,
  name: string,
  objects: KubeObject[],
): Promise<void> {
  try {
    await seed.create(resources.secrets, contentSecret(namespace, name, objects), { fieldManager });
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
  }
}

/**
 * Gardener lets go and the objects stay: `keepObjects: true`, then delete (proven, facts/testbed.md). Safe to repeat:
 * a ManagedResource that is being deleted only gets its missing `keepObjects`.
 * @throws ConflictError when it is no longer what was read
 */
export async function release(seed: KubeClient, live: ManagedResource): Promise<void> {
  await remove(seed, live.spec.keepObjects === true ? live : await keepObjects(seed, live));
}

function keepObjects(seed: KubeClient, { metadata }: ManagedResource): Promise<ManagedResource> {
  const { resourceVersion } = metadata;
  const patch = { metadata: { resourceVersion }, spec: { keepObjects: true } };
  return seed.mergePatch(resources.managedResources, metadata, patch, { fieldManager });
}

/**
 * Deletes a ManagedResource together with its objects, unless it keeps them.
 * @throws ConflictError when it is no longer what was read: another run may want the objects, or to keep them
 */
export async function remove(seed: KubeClient, live: ManagedResource): Promise<void> {
  const { uid, resourceVersion, deletionTimestamp } = live.metadata;
  if (deletionTimestamp !== undefined) return;
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  await seed.delete(resources.managedResources, live.metadata, { preconditions });
}
