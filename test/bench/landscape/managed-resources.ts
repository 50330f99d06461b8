import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import { ORIGIN, ORIGIN_LABEL } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';

const labelSelector = `${ORIGIN_LABEL}=${ORIGIN}`;

/** How many ManagedResources the first run for a Shoot writes; sources and Kustomizations follow once these are applied. */
export const PER_SHOOT = Object.keys(managedResourceNames).length - 1;

export type Arrivals = Awaited<ReturnType<typeof watchArrivals>>;

/** Watches the ManagedResources of a seed appear; metadata only, to use as little CPU as possible. */
export async function watchArrivals(seed: KubeClient) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const { resourceVersion } = await seed.list(resources.managedResources, { labelSelector, metadataOnly: true });
  let seen = 0;
  return {
    /** Watches until so many have been seen, and resolves with the clock's time (`performance.now()`). */
    async until(count: number): Promise<number> {
      const options = { labelSelector, metadataOnly: true, resourceVersion, timeoutSeconds: 3600, signal };
      for await (const { type } of seed.watch(resources.managedResources, options)) {
        if (type === 'ADDED') seen++;
        if (seen >= count) return performance.now();
      }
      throw new Error('The watch of ManagedResources ended.');
    },
    seen: () => seen,
    stop: () => stopping.abort(),
  };
}
