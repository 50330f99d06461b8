import { RetryableError } from '../../shared/errors.ts';
import { isOwn, managedResourceManifest, managedResourcePatch } from '../../shared/gardener/managed-resource.ts';
import { contentSecret } from '../../shared/gardener/managed-resource-content.ts';
import { type ManagedResource, ORIGIN, ORIGIN_LABEL } from '../../shared/gardener/types.ts';
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
  const known = live ?? (await createManagedResource(seed, managedResourceManifest(namespace, name, secretName)));
  if (known === undefined) return;
  const patch = managedResourcePatch(known, secretName);
  await seed.mergePatch(resources.managedResources, { namespace, name }, patch, { fieldManager });
}

/** @returns the one of ours that is there although it was not read: somebody has taken its label off */
async function createManagedResource(seed: KubeClient, manifest: KubeObject): Promise<ManagedResource | undefined> {
  try {
    await seed.create(resources.managedResources, manifest, { fieldManager });
    return undefined;
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    const live = await seed.find<ManagedResource>(resources.managedResources, manifest.metadata);
    if (live === undefined || live.metadata.labels?.[ORIGIN_LABEL] === ORIGIN) {
      throw new ConflictError(error.message, error.status, error.reason, { cause: error });
    }
    if (isOwn(live)) return live;
    const { namespace, name } = live.metadata;
    throw new RetryableError(
      `ManagedResource ${namespace}/${name} is somebody else's, and what it holds must not be replaced; remove it, or give it another name.`,
    );
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
