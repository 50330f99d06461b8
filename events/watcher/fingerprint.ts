import { hash } from 'node:crypto';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';

/**
 * 48 bits that change when the object is another one of the same name, begins to be deleted, stands for other keys, or
 * changes in a field that wakes the function. A number, because a text of the same worth takes four times the memory.
 */
export function fingerprint(object: KubeObject, keys: ReconcileKey[], wakes: unknown): number {
  const { uid, deletionTimestamp } = object.metadata;
  const text = JSON.stringify([uid, deletionTimestamp !== undefined, keys, wakes]);
  return Number.parseInt(hash('sha1', text, 'hex').slice(0, 12), 16);
}
