import { RetryableError } from '../../../shared/errors.ts';
import { isOwn, managedResourceManifest, managedResourcePatch } from '../../../shared/gardener/managed-resource.ts';
import { contentSecret } from '../../../shared/gardener/managed-resource-content.ts';
import { type ManagedResource, ORIGIN, ORIGIN_LABEL } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { AlreadyExistsError, ConflictError } from '../../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { fieldManager } from '../release.ts';

/** Writes a content Secret. Its name carries the hash of the content, so a Secret that exists is the right one. */
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
 * Writes the ManagedResource that refers to a content Secret; the resource-manager then applies it to the shoot.
 * @param live the ManagedResource as it was read; undefined: it did not exist
 * @throws ConflictError when it has changed since then: a newer run has overtaken this one, and with the older content
 * the resource-manager would delete objects that the newer one brought
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

/** @returns ours that exists although the list did not have it, because a user removed its label */
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
