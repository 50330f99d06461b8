import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import { ORIGIN, ORIGIN_LABEL } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';

const labelSelector = `${ORIGIN_LABEL}=${ORIGIN}`;

/** How many ManagedResources the first run for a Shoot writes; sources and Kustomizations follow once these are applied. */
export const PER_SHOOT = Object.keys(managedResourceNames).length - 1;

/** Watches the ManagedResources of a seed appear. */
export interface Arrivals {
  /** Resolves with the clock's time (`performance.now()`) at which so many of this namespace had been seen. */
  of(namespace: string, count?: number): Promise<number>;
  /** The same for all namespaces together. */
  total(count: number): Promise<number>;
  /** Returns how many were seen. */
  seen(): number;
  stop(): void;
}

/** Watches metadata only, to use as little CPU as possible. */
export async function watchArrivals(seed: KubeClient): Promise<Arrivals> {
  const counts = new Map<string, number>();
  const listeners = new Set<() => void>();
  const stopping = new AbortController();
  let all = 0;
  const { resourceVersion } = await seed.list(resources.managedResources, { labelSelector, metadataOnly: true });
  const loop = async () => {
    const { signal } = stopping;
    const options = { labelSelector, metadataOnly: true, resourceVersion, timeoutSeconds: 3600, signal };
    for await (const { type, object } of seed.watch(resources.managedResources, options)) {
      if (type !== 'ADDED') continue;
      all++;
      const { namespace = '' } = object.metadata;
      counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
      for (const listener of listeners) listener();
    }
  };
  const watching = loop();
  const until = (reached: () => boolean): Promise<number> => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const listener = () => {
      if (!reached()) return;
      listeners.delete(listener);
      resolve(performance.now());
    };
    listeners.add(listener);
    listener();
    // Without the watch there is no measurement.
    return Promise.race([
      promise,
      watching.then(() => Promise.reject(new Error('The watch of ManagedResources ended.'))),
    ]);
  };
  watching.catch(() => {});
  return {
    of: (namespace, count = PER_SHOOT) => until(() => (counts.get(namespace) ?? 0) >= count),
    total: (count) => until(() => all >= count),
    seen: () => all,
    stop: () => stopping.abort(),
  };
}
