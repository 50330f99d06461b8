import { retryWithinSeconds, TerminalError } from '../../shared/errors.ts';
import { ConflictError, KubeError } from '../../shared/kube/errors.ts';

/** How a change whose run has failed is retried. */
export type Retry =
  /** A wait in the queue itself. On SQS it blocks the other changes of the key, so only for short waits. */
  | { type: 'short'; seconds: number }
  /** A wait that blocks no other change of the key; on SQS in the delay queue. */
  | { type: 'long'; seconds: number }
  | { type: 'deadLetter' };

/** Up to this attempt waits are short: 1, 2, 4, … 60 s, some two minutes in all. */
export const SHORT_ATTEMPTS = 8;
const SHORT_CAP_SECONDS = 60;
/** Later waits grow to this. */
const LONG_CAP_SECONDS = 900;

/** How long gardenlet may be waiting: 20 attempts, each within 15 s, outlast its three minutes. */
const AWAITED_ATTEMPTS = 20;

/** The last attempt: after seven hours, or four where gardenlet was waiting at first. */
export const LAST_ATTEMPT = 40;

/**
 * While a cluster is down, the attempts of its changes grow no higher, and so their waits to four minutes. The queue of one
 * process parks them instead.
 */
export const DOWN_ATTEMPTS = 11;

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
  const seconds = Math.max(retry.seconds, Math.ceil(asked * (1 + 0.25 * random)));
  return { type: seconds > SHORT_CAP_SECONDS ? 'long' : retry.type, seconds };
}

function decideBackOff(error: unknown, attempt: number, random: number, lastAttempt: number): Retry {
  if (error instanceof TerminalError || attempt >= lastAttempt) return { type: 'deadLetter' };
  if (attempt <= SHORT_ATTEMPTS && error instanceof ConflictError) {
    return { type: 'short', seconds: attempt <= 2 ? 0 : 1 };
  }
  const wished = retryWithinSeconds(error);
  if (attempt <= SHORT_ATTEMPTS) {
    const cap = Math.min(wished ?? SHORT_CAP_SECONDS, SHORT_CAP_SECONDS);
    return { type: 'short', seconds: jittered(2 ** (attempt - 1), cap, random) };
  }
  const quick = wished === undefined ? SHORT_ATTEMPTS : AWAITED_ATTEMPTS;
  if (wished !== undefined && attempt <= quick) return { type: 'long', seconds: jittered(wished, wished, random) };
  // Equal for all keys: the grid of each key spreads long waits.
  return { type: 'long', seconds: Math.min(60 * 2 ** (attempt - quick - 1), LONG_CAP_SECONDS) };
}

/** Returns between 75 % and 100 % of the wait, in whole seconds as SQS requires, at least one. */
function jittered(seconds: number, cap: number, random: number): number {
  return Math.max(1, Math.round(Math.min(seconds, cap) * (0.75 + 0.25 * random)));
}

/** Returns the API server's Retry-After in seconds; 0 if it asks for no wait. */
export function retryAfterOf(error: unknown): number {
  return error instanceof KubeError ? (error.retryAfterSeconds ?? 0) : 0;
}
