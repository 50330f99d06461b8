import type { ShootTraits } from '../config/types.ts';
import { shootFacts } from './shoot-facts.ts';
import type { Cluster, Shoot } from './types.ts';

/** Gardener changes it with the health of the Shoot; a configuration must not change with it. */
const STATUS = 'shoot.gardener.cloud/status';

/** Returns the labels of a Shoot that its configuration may depend on. */
export function traitLabels({ metadata }: Shoot): Record<string, string> {
  const labels = Object.entries(metadata.labels ?? {});
  return Object.fromEntries(labels.filter(([key, value]) => key !== STATUS && typeof value === 'string'));
}

/** Returns what the configuration of a Shoot may depend on. */
export function shootTraits(cluster: Cluster): ShootTraits {
  // The garden's identity is in none of them.
  return { labels: traitLabels(cluster.spec.shoot), facts: shootFacts(cluster, {}).facts };
}
