// What follows a run, in the keyed queue of one process and on every transport.
import { RetryableError, retryWithinSeconds, TerminalError } from '../shared/errors.ts';
import { ClusterDownError, ConflictError, KubeError } from '../shared/kube/errors.ts';
import { GARDEN, type ReconcileKey } from '../shared/runtime/key.ts';
import type { Ending, RunResult } from './run.ts';

/** How a change whose run has failed is retried. */
export type Retry = { type: 'wait'; seconds: number } | { type: 'deadLetter' };

/** Up to this attempt waits are short: 1, 2, 4, … 60 s, some two minutes in all. */
export const SHORT_ATTEMPTS = 8;
const SHORT_CAP_SECONDS = 60;
/** Later waits grow to this. */
const LONG_CAP_SECONDS = 900;

/** How long gardenlet may be waiting: 20 attempts, each within 15 s, outlast its three minutes. */
const AWAITED_ATTEMPTS = 20;

/** The last attempt: after seven hours, or four where gardenlet was waiting at first. */
export const LAST_ATTEMPT = 40;

/** While a cluster is down, a transport counts no more attempts of its changes: so their waits grow to four minutes. */
const ATTEMPTS_WHILE_DOWN = 11;

/** The same in the keyed queue, which parks the changes: with these their waits have grown to the longest. */
export const ATTEMPTS_WHILE_PARKED = 25;

/** A resync is tried twice, because a conflict is ordinary. With more, each resync would begin one more chain. */
const RESYNC_ATTEMPTS = 2;

/** How long a change for a seed of another process waits; so the last of 40 attempts is after 20 minutes. */
const NOT_SERVED_SECONDS = 30;

/**
 * Decides how a failed run is retried. A conflict means that another writer was faster: the run is repeated at once.
 * @param attempt counts from 1
 * @param random between 0 and 1: spreads short waits of keys that failed together
 * @param lastAttempt the attempt after which the change becomes a dead letter
 */
export function decideRetry(error: unknown, attempt: number, random: number, lastAttempt = LAST_ATTEMPT): Retry {
  const retry = decideBackOff(error, attempt, random, lastAttempt);
  const asked = retryAfterOf(error);
  if (retry.type === 'deadLetter' || asked === 0) return retry;
  // The server's wait is never undercut: neither by a limit nor by the random part, which only makes it longer.
  return { type: 'wait', seconds: Math.max(retry.seconds, Math.ceil(asked * (1 + 0.25 * random))) };
}

function decideBackOff(error: unknown, attempt: number, random: number, lastAttempt: number): Retry {
  if (error instanceof TerminalError || attempt >= lastAttempt) return { type: 'deadLetter' };
  if (attempt <= SHORT_ATTEMPTS && error instanceof ConflictError) {
    return { type: 'wait', seconds: attempt <= 2 ? 0 : 1 };
  }
  const wished = retryWithinSeconds(error);
  if (attempt <= SHORT_ATTEMPTS) {
    const cap = Math.min(wished ?? SHORT_CAP_SECONDS, SHORT_CAP_SECONDS);
    return { type: 'wait', seconds: jittered(2 ** (attempt - 1), cap, random) };
  }
  const quick = wished === undefined ? SHORT_ATTEMPTS : AWAITED_ATTEMPTS;
  if (wished !== undefined && attempt <= quick) return { type: 'wait', seconds: jittered(wished, wished, random) };
  // Equal for all keys: the grid of each key spreads long waits.
  return { type: 'wait', seconds: Math.min(60 * 2 ** (attempt - quick - 1), LONG_CAP_SECONDS) };
}

/** Returns between 75 % and 100 % of the wait, in whole seconds as SQS requires, at least one. */
function jittered(seconds: number, cap: number, random: number): number {
  return Math.max(1, Math.round(Math.min(seconds, cap) * (0.75 + 0.25 * random)));
}

/** Returns the API server's Retry-After in seconds; 0 if it asks for no wait. */
export function retryAfterOf(error: unknown): number {
  return error instanceof KubeError ? (error.retryAfterSeconds ?? 0) : 0;
}

/** What follows a run in the keyed queue: how it has ended, and for a retry what else makes it due. */
export type Next =
  | Exclude<Ending, { result: 'retry' | 'dropped' }>
  /**
   * `atLeastSeconds`: the wait that an API server asks for; `down`: a cluster that did not answer the run, whose return
   * makes the retry due.
   */
  | { result: 'retry'; seconds: number; error: unknown; atLeastSeconds?: number; down?: string | undefined };

/**
 * Decides what follows a run in the keyed queue. A cluster that is down is no reason to give up a change, however long it
 * is down.
 * @param attempt counts from 1
 * @param random between 0 and 1
 */
export function nextOf(result: RunResult, attempt: number, random: number): Next {
  if (result.type === 'done') return { result: 'done' };
  if (result.type === 'requeue') return { result: 'requeue', seconds: Math.max(0, result.afterSeconds) };
  const { error } = result;
  const down = error instanceof ClusterDownError ? error.cluster : undefined;
  const retry = decideRetry(error, down === undefined ? attempt : Math.min(attempt, LAST_ATTEMPT - 1), random);
  return retry.type === 'deadLetter'
    ? { result: 'dead_letter', error }
    : { result: 'retry', seconds: retry.seconds, atLeastSeconds: retryAfterOf(error), error, down };
}

/** What follows a failed run of changes that a transport has brought. */
export type AfterFailure =
  /** `attempt`: how many attempts are counted, with this one. */
  | { type: 'wait'; seconds: number; attempt: number }
  /** Nothing: the next resync looks at the key again. */
  | { type: 'drop' }
  | { type: 'deadLetter' };

/**
 * Decides what follows a failed run of changes that a transport has brought.
 * @param run its attempt, and whether only the resync has asked for it
 * @param random between 0 and 1: spreads keys that failed together
 */
export function afterFailure(
  error: unknown,
  { attempt, isResync }: { attempt: number; isResync: boolean },
  lastAttempt = LAST_ATTEMPT,
  random = Math.random(),
): AfterFailure {
  if (error instanceof NotServedError && attempt < lastAttempt) {
    return { type: 'wait', seconds: NOT_SERVED_SECONDS, attempt };
  }
  const isDown = error instanceof ClusterDownError;
  if (isResync && !(error instanceof TerminalError) && (isDown || attempt >= RESYNC_ATTEMPTS)) return { type: 'drop' };
  // Such a run costs nothing, and the change is not to blame: it is never given up.
  const counted = isDown ? Math.min(attempt, ATTEMPTS_WHILE_DOWN) : attempt;
  // The grid of the key spreads long waits, and needs equal ones.
  const retry = decideRetry(error, counted, counted > SHORT_ATTEMPTS ? 1 : random, lastAttempt);
  return retry.type === 'deadLetter' ? retry : { ...retry, attempt: counted };
}

/**
 * Decides what follows when a broker has used up its own short retries of a change: the long ones.
 * @param before the attempts before the broker's
 * @param isUp whether the cluster of the key answers: while it does not, its changes are never given up
 */
export function afterShortRetries(
  reason: string,
  { before, isResync, isUp }: { before: number; isResync: boolean; isUp: boolean },
): AfterFailure {
  if (isResync) return { type: 'drop' };
  const attempts = Math.max(before, SHORT_ATTEMPTS) + 1;
  const attempt = isUp ? attempts : Math.min(attempts, LAST_ATTEMPT - 1);
  const retry = decideRetry(new RetryableError(reason), attempt, 1);
  return retry.type === 'deadLetter' ? retry : { ...retry, attempt };
}

/**
 * A change for a seed that this process does not serve: another one does, or will in a moment, because a deployment is
 * just getting or losing a seed.
 */
export class NotServedError extends RetryableError {
  override name = 'NotServedError';

  constructor(seed: string, served: string[]) {
    super(
      `This process does not serve seed ${seed}, only ${served.join(', ') || 'none'}; add it with --seed or SEEDS, or ` +
        'use another queue prefix.',
    );
  }
}

/** Returns whether a process that serves these seeds can run a function for the key. */
export function isServed({ cluster }: ReconcileKey, seeds: string[]): boolean {
  return cluster === GARDEN || seeds.includes(cluster);
}
