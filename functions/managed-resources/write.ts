import { managedResourceManifest } from '../../shared/gardener/managed-resource.ts';
import { contentSecret } from '../../shared/gardener/managed-resource-content.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { AlreadyExistsError } from '../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';

export const fieldManager = 'shoot-flux-managed-resources';

/** Finalizer of the resource-manager on ManagedResources without a class (facts 3.1). */
export const RESOURCE_MANAGER_FINALIZER = 'resources.gardener.cloud/gardener-resource-manager';

/** The Secret first, then the ManagedResource that refers to it (trap 28). */
export async function writeManagedResource(
  seed: KubeClient,
  namespace: string,
  name: string,
  secretName: string,
  objects: KubeObject[],
): Promise<void> {
  await writeContent(seed, namespace, name, objects);
  await seed.apply(resources.managedResources, managedResourceManifest(namespace, name, secretName), { fieldManager });
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
 */
export async function release(seed: KubeClient, live: KubeObject): Promise<void> {
  const { namespace, name } = live.metadata;
  // A list of metadata only does not tell: then it is said once more.
  if ((live.spec as { keepObjects?: boolean } | undefined)?.keepObjects !== true) {
    await seed.mergePatch(
      resources.managedResources,
      { namespace, name },
      { spec: { keepObjects: true } },
      { fieldManager },
    );
  }
  await remove(seed, live);
}

/** Deletes a ManagedResource together with its objects, unless it keeps them. */
export async function remove(seed: KubeClient, live: KubeObject): Promise<void> {
  const { namespace, name, uid } = live.metadata;
  if (live.metadata.deletionTimestamp !== undefined) return;
  await seed.delete(
    resources.managedResources,
    { namespace, name },
    uid === undefined ? {} : { preconditions: { uid } },
  );
}
