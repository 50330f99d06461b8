import { hash } from 'node:crypto';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';

/**
 * Eleven characters that change when the object is another one of the same name, begins to be deleted, stands for
 * other keys, or changes in a field that wakes the function.
 */
export function fingerprint(object: KubeObject, keys: ReconcileKey[], wakes: unknown): string {
  const { uid, deletionTimestamp } = object.metadata;
  // Up to twelve characters V8 copies; a longer slice would keep the whole digest alive for every object.
  return hash('sha1', JSON.stringify([uid, deletionTimestamp !== undefined, keys, wakes]), 'base64url').slice(0, 11);
}
