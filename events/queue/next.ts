import { ClusterDownError } from '../../shared/kube/errors.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';
import { endOfLongWait, isLongWait } from '../run/grid.ts';
import { decideRetry, LAST_ATTEMPT, retryAfterOf } from '../run/retry.ts';
import type { RunResult } from '../run/runner.ts';

/** What follows a run. */
export type Next =
  | { type: 'done' }
  /** The function asked for another look. */
  | { type: 'look'; seconds: number }
  /**
   * The run has failed. `atLeastSeconds`: the wait that an API server asks for; `down`: a cluster that did not answer
   * the run, whose return makes the retry due.
   */
  | { type: 'retry'; seconds: number; atLeastSeconds?: number; error: unknown; down?: string | undefined }
  | { type: 'deadLetter'; error: unknown };

/**
 * Decides what follows a run. A cluster that is down is no reason to give up a change, however long it is down.
 * @param attempt counts from 1
 * @param random between 0 and 1
 */
export function nextOf(result: RunResult, attempt: number, random: number): Next {
  if (result.type === 'done') return result;
  if (result.type === 'requeue') return { type: 'look', seconds: Math.max(0, result.afterSeconds) };
  const { error } = result;
  const down = error instanceof ClusterDownError ? error.cluster : undefined;
  const retry = decideRetry(error, down === undefined ? attempt : Math.min(attempt, LAST_ATTEMPT - 1), random);
  return retry.type === 'deadLetter'
    ? { type: 'deadLetter', error }
    : { type: 'retry', seconds: retry.seconds, atLeastSeconds: retryAfterOf(error), error, down };
}

/** Returns when the next run is due, in ms of the clock of `now`: a long wait ends on the grid of the key. */
export function dueTime(next: Extract<Next, { seconds: number }>, key: ReconcileKey, now: number): number {
  const { seconds } = next;
  if (!isLongWait(seconds)) return now + seconds * 1000;
  return endOfLongWait(now, seconds, key, next.type === 'retry' ? next.atLeastSeconds : 0);
}
