import type { ReconcileKey } from './key.ts';

/** Why a reconcile key may need attention. It never carries an object, so no Secret can leak through a queue. */
export type Cause =
  /**
   * A watched object changed; `deleted` tells the last version of an object from its deletion. `also` is a digest of
   * other objects' changes that this one stands for too: part of the deduplication id, or they could be swallowed.
   */
  | {
      type: 'object';
      cluster: string;
      kind: string;
      namespace?: string | undefined;
      name: string;
      uid: string;
      resourceVersion: string;
      deleted?: boolean | undefined;
      also?: string | undefined;
    }
  /** A function asked to run again at this time (RFC 3339, UTC). */
  | { type: 'notBefore'; notBefore: string; attempt?: number | undefined }
  /** The watcher's even trickle over all keys; `epoch` counts resync periods. */
  | { type: 'resync'; epoch: number }
  /** A person moved the change back from a dead-letter queue. */
  | { type: 'redrive'; nonce: string };

/** What a function or the watcher asks to be sent: "this key of this function may need attention, because of that". */
export interface ChangeRequest {
  function: string;
  key: ReconcileKey;
  cause: Cause;
}
