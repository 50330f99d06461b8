import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { appliedStatus } from './resource-manager.ts';

/** Plays all resource-managers of a seed: reports every ManagedResource that changes as applied, until the signal. */
export async function stampApplied(seed: KubeClient, signal: AbortSignal): Promise<void> {
  const { resourceVersion } = await seed.list(resources.managedResources, { limit: 1 });
  const writes = new Set<Promise<unknown>>();
  try {
    const options = { resourceVersion, timeoutSeconds: 3600, signal };
    for await (const { type, object } of seed.watch(resources.managedResources, options)) {
      const { metadata, status } = object as ManagedResource;
      if (type === 'BOOKMARK' || type === 'DELETED' || status?.observedGeneration === metadata.generation) continue;
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
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await Promise.all(writes);
  }
}
