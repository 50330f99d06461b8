import type { ClusterDownError, UnreachableError } from './errors.ts';

/**
 * Stands before the calls to one cluster: refuses them while the cluster does not answer, and sees how they end.
 * `shared/runtime/cluster-health.ts` is the one that all clients of a process share.
 */
export interface CallGuard {
  /**
   * Begins a call. Exactly one method of the result must be called.
   * @param call for the sentence of the error, for example `GET secrets foo/bar`
   * @throws ClusterDownError while the cluster is down
   */
  begin(call: string): GuardedCall;
  /**
   * Calls the listener when the cluster goes down, with a function that returns the error of a call. Returns a function
   * that removes the listener.
   */
  onDown(listener: (errorOf: (call: string) => ClusterDownError) => void): () => void;
}

/** A call that was sent. */
export interface GuardedCall {
  /** The cluster has answered, with whatever status. */
  answered(): void;
  /** No connection, or no answer in time. Returns the error to throw instead if the cluster is down now. */
  failed(error: UnreachableError): ClusterDownError | undefined;
  /** The call ended for another reason, which says nothing about the cluster. */
  dropped(): void;
}
