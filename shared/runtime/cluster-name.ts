import { GARDEN } from './key.ts';

/** Returns the name of a cluster in sentences: `the garden` or `seed foo`. */
export function clusterName(cluster: string): string {
  return cluster === GARDEN ? 'the garden' : `seed ${cluster}`;
}
