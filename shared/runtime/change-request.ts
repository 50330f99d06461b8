import type { ReconcileKey } from './key.ts';

/** Why a reconcile key may need attention. It never carries an object, so no Secret can leak through a queue. */
export type Cause =
  /**
   * A watched object changed; `deleted` distinguishes its deletion from its last version. `also` is a digest of merged
   * changes of other objects: part of the deduplication id, or the queue could drop them. `awaited`: gardenlet or a
   * user waits for what the object asks for. `listed`: found by a list, which may find thousands at once, not by a
   * watch. Both only decide what goes first.
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
      awaited?: boolean | undefined;
      listed?: boolean | undefined;
    }
  /** A function asked to run again at this time (RFC 3339, UTC). */
  | { type: 'notBefore'; notBefore: string; attempt?: number | undefined }
  /**
   * A function that works through a long list sent itself the rest of it: everything after the name `after`, from the
   * API server's `token`, or from the start when that has expired. `hop` counts the runs of one pass, `state` is a
   * digest of what the pass reports, and `again` asks for another pass: something changed meanwhile.
   */
  | {
      type: 'continue';
      after: string;
      token?: string | undefined;
      hop: number;
      state: string;
      again?: boolean | undefined;
      listed?: boolean | undefined;
      notBefore?: string | undefined;
      attempt?: number | undefined;
    }
  /** The hourly trickle of all keys; `epoch` counts resync periods. */
  | { type: 'resync'; epoch: number }
  /** An operator moved the change back from a dead-letter queue. */
  | { type: 'redrive'; nonce: string };

/** A change to be sent: this key of this function may need attention, because of that cause. */
export interface ChangeRequest {
  function: string;
  key: ReconcileKey;
  cause: Cause;
}
