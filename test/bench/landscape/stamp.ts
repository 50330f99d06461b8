import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { changes } from './changes.ts';
import { markOneApplied } from './resource-manager.ts';

/** Plays all resource-managers of a seed: reports every ManagedResource that changes as applied, until the signal. */
export async function stampApplied(seed: KubeClient, signal: AbortSignal): Promise<void> {
  const writes = new Set<Promise<unknown>>();
  const stamp = (resource: ManagedResource) => {
    const written = markOneApplied(seed, resource).catch(() => {});
    writes.add(written);
    void written.finally(() => writes.delete(written));
  };
  const { resourceVersion } = await seed.list(resources.managedResources, { limit: 1 });
  for await (const object of changes(seed, resources.managedResources, { resourceVersion, signal })) {
    const { metadata, status } = object as ManagedResource;
    if (status?.observedGeneration !== metadata.generation) stamp(object as ManagedResource);
  }
  await Promise.all(writes);
}
