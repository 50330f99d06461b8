import type { KubeClient } from '../kube/client.ts';
import { resources } from '../kube/resource.ts';
import type { ReconcileKey } from '../runtime/key.ts';
import { gate, isOurs } from './gate.ts';
import { clusterOf, extensionOf } from './read-objects.ts';
import type { Cluster, Extension, OperationType } from './types.ts';

/** What a function that works on an Extension finds when it begins. */
export type LoadedExtension =
  /** There is no Extension of this name. */
  | { state: 'absent' }
  /** The Extension is not ours, or holds nothing that the function needs; its Cluster was not read. */
  | { state: 'irrelevant' }
  | { state: 'without Cluster' }
  /** The gate keeps every function away from this Extension for now. */
  | { state: 'closed'; reason: string; cluster: Cluster }
  | { state: 'open'; operation: OperationType; extension: Extension; cluster: Cluster };

/**
 * Reads the Extension of a key and its Cluster, and asks the gate.
 * @param isRelevant false ends it before the Cluster is read: a Cluster is large, and most runs do not need it
 */
export async function loadExtension(
  seed: KubeClient,
  key: ReconcileKey,
  isRelevant: (extension: Extension) => boolean = () => true,
): Promise<LoadedExtension> {
  const found = await seed.find(resources.extensions, key);
  if (found === undefined) return { state: 'absent' };
  const extension = extensionOf(found);
  if (!isOurs(extension) || !isRelevant(extension)) return { state: 'irrelevant' };
  const clusterFound = await seed.find(resources.clusters, { name: key.namespace });
  const cluster = clusterFound && clusterOf(clusterFound);
  if (cluster === undefined) return { state: 'without Cluster' };
  const decision = gate(extension, cluster);
  if (!decision.open) return { state: 'closed', reason: decision.reason, cluster };
  return { state: 'open', operation: decision.operation, extension, cluster };
}
