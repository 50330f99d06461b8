import type { KubeClient } from '../kube/client.ts';
import { resources } from '../kube/resource.ts';
import type { ReconcileKey } from '../runtime/key.ts';
import { clusterOf, extensionOf } from './read-objects.ts';
import { type Cluster, EXTENSION_TYPE, type Extension, OPERATION_ANNOTATION, type OperationType } from './types.ts';

/** Whether this Extension may be worked on now, and as which operation. */
type GateDecision = { open: true; operation: OperationType } | { open: false; reason: string };

/** True for Extensions of our type whose class is unset or `shoot` (trap 12: the others have no Cluster). */
export function isOurs(extension: Extension): boolean {
  const { type, class: extensionClass } = extension.spec ?? {};
  return type === EXTENSION_TYPE && (extensionClass ?? 'shoot') === 'shoot';
}

/**
 * Decides whether an Extension may be worked on: the one check before every write to a seed (rule 1.3, traps 6, 7, 8, 12).
 * @param cluster read in the same run
 */
export function gate(extension: Extension, cluster: Cluster): GateDecision {
  if (!isOurs(extension)) return { open: false, reason: 'another type or class' };
  const annotation = extension.metadata.annotations?.[OPERATION_ANNOTATION];
  // Trap 6: the Extension has no state yet, so a reconciliation would bootstrap again.
  if (annotation === 'wait-for-state') return { open: false, reason: 'gardenlet has not restored the state yet' };
  if (cluster.spec.shoot.status?.lastOperation?.state === 'Failed') {
    return { open: false, reason: 'the Shoot is Failed' };
  }
  const operation = operationType(extension, annotation);
  const last = extension.status?.lastOperation;
  // Trap 7: the control plane is on another seed now, also when this Extension is being deleted.
  if (last?.type === 'Migrate' && last.state === 'Succeeded' && operation !== 'Migrate' && operation !== 'Restore') {
    return { open: false, reason: 'the control plane has migrated away' };
  }
  return { open: true, operation };
}

/** The first match wins: migrate before a deletion, a deletion before restore (trap 8). */
function operationType(extension: Extension, annotation: string | undefined): OperationType {
  if (annotation === 'migrate') return 'Migrate';
  if (extension.metadata.deletionTimestamp !== undefined) return 'Delete';
  if (annotation === 'restore') return 'Restore';
  const last = extension.status?.lastOperation;
  if (last === undefined) return 'Create';
  const unfinished = last.state !== 'Succeeded';
  if (unfinished && (last.type === 'Create' || last.type === 'Migrate' || last.type === 'Restore')) return last.type;
  return 'Reconcile';
}

/** What a function that works on an Extension finds when it begins. */
type LoadedExtension =
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
