import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { changes } from './changes.ts';
import { appliedStatus } from './resource-manager.ts';

/** Plays all resource-managers of a seed: reports every ManagedResource that changes as applied, until the signal. */
export async function stampApplied(seed: KubeClient, signal: AbortSignal): Promise<void> {
  const writes = new Set<Promise<unknown>>();
  const stamp = ({ metadata }: KubeObject) => {
    const written = seed
      .mergePatch(
        resources.managedResources,
        metadata,
        { status: appliedStatus(metadata.generation) },
        { fieldManager: 'bench', subresource: 'status' },
      )
      .catch(() => {});
    writes.add(written);
    void written.finally(() => writes.delete(written));
  };
  const { resourceVersion } = await seed.list(resources.managedResources, { limit: 1 });
  for await (const object of changes(seed, resources.managedResources, { resourceVersion, signal })) {
    const { metadata, status } = object as ManagedResource;
    if (status?.observedGeneration !== metadata.generation) stamp(object);
  }
  await Promise.all(writes);
}
