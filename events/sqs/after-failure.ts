import { TerminalError } from '../../shared/errors.ts';
import { ClusterDownError } from '../../shared/kube/errors.ts';
import { NOT_SERVED_SECONDS, NotServedError } from '../run/not-served.ts';
import { DOWN_ATTEMPTS, decideRetry, type Retry, SHORT_ATTEMPTS } from '../run/retry.ts';
import type { Group } from './groups.ts';

/** What follows a failed run. */
export type AfterFailure =
  | Exclude<Retry, { type: 'long' }>
  /** A wait in the delay queue. */
  | { type: 'long'; seconds: number; attempt: number }
  /** Nothing: the next resync looks at the key again. */
  | { type: 'drop' };

/** A longer wait goes through the delay queue: a hidden message blocks its group, and with it the edit that helps. */
const MOST_HIDDEN_SECONDS = 10;

/** A resync is tried twice, because a conflict is ordinary. With more, each resync would begin one more chain. */
const RESYNC_ATTEMPTS = 2;

/**
 * Decides how a failed run is retried.
 * @param random between 0 and 1: spreads keys that failed together
 */
export function afterFailure(
  error: unknown,
  { kept: { attempt }, isResync }: Pick<Group, 'kept' | 'isResync'>,
  lastAttempt: number,
  random = Math.random(),
): AfterFailure {
  if (error instanceof NotServedError && attempt < lastAttempt) {
    return { type: 'long', seconds: NOT_SERVED_SECONDS, attempt };
  }
  const isDown = error instanceof ClusterDownError;
  if (isResync && !(error instanceof TerminalError) && (isDown || attempt >= RESYNC_ATTEMPTS)) return { type: 'drop' };
  // Such a run costs nothing, and the change is not to blame: it is never given up.
  const counted = isDown ? Math.min(attempt, DOWN_ATTEMPTS) : attempt;
  // The grid of the key spreads long waits, and needs equal ones.
  const retry = decideRetry(error, counted, counted > SHORT_ATTEMPTS ? 1 : random, lastAttempt);
  if (retry.type === 'deadLetter' || (retry.type === 'short' && retry.seconds <= MOST_HIDDEN_SECONDS)) return retry;
  return { type: 'long', seconds: retry.seconds, attempt: counted };
}
