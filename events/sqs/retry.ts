import { retryWithinSeconds, TerminalError } from '../../shared/errors.ts';
import { ConflictError, KubeError } from '../../shared/kube/errors.ts';

/** How a change whose run has failed is retried. */
export type Retry =
  /** Stays hidden in its queue. Blocks its group, so only for short waits. */
  | { type: 'visibility'; seconds: number }
  /** Waits in the delay queue. Frees its group: a new change runs at once. */
  | { type: 'delay'; seconds: number }
  | { type: 'deadLetter' };

/** Up to this attempt retries use the visibility timeout: 1, 2, 4, … 60 s, some two minutes in all. */
const VISIBILITY_ATTEMPTS = 8;
const VISIBILITY_CAP_SECONDS = 60;
/** Later waits grow to this. */
const DELAY_CAP_SECONDS = 900;

/** How long gardenlet may be waiting: 20 attempts, each within 15 s, outlast its three minutes. */
const AWAITED_ATTEMPTS = 20;

/** The last attempt: after seven hours, or four where gardenlet was waiting at first. */
export const LAST_ATTEMPT = 40;

/**
 * Decides how a failed run is retried. A conflict means that another writer was faster: the run is repeated at once.
 * @param attempt counts from 1
 * @param random between 0 and 1: spreads keys that failed together
 * @param lastAttempt the attempt after which the change goes to the dead-letter queue
 */
export function decideRetry(error: unknown, attempt: number, random: number, lastAttempt = LAST_ATTEMPT): Retry {
  if (error instanceof TerminalError || attempt >= lastAttempt) return { type: 'deadLetter' };
  if (attempt <= VISIBILITY_ATTEMPTS && error instanceof ConflictError) {
    return { type: 'visibility', seconds: attempt <= 2 ? 0 : 1 };
  }
  const wished = retryWithinSeconds(error);
  if (attempt <= VISIBILITY_ATTEMPTS) {
    const cap = Math.min(wished ?? VISIBILITY_CAP_SECONDS, VISIBILITY_CAP_SECONDS);
    return { type: 'visibility', seconds: jittered(Math.max(2 ** (attempt - 1), retryAfterOf(error)), cap, random) };
  }
  const quick = wished === undefined ? VISIBILITY_ATTEMPTS : AWAITED_ATTEMPTS;
  if (wished !== undefined && attempt <= quick) return { type: 'delay', seconds: jittered(wished, wished, random) };
  return { type: 'delay', seconds: jittered(60 * 2 ** (attempt - quick - 1), DELAY_CAP_SECONDS, random) };
}

/** Returns between 75 % and 100 % of the wait, in whole seconds as SQS requires, at least one. */
function jittered(seconds: number, cap: number, random: number): number {
  return Math.max(1, Math.round(Math.min(seconds, cap) * (0.75 + 0.25 * random)));
}

/** Returns the API server's Retry-After in seconds. */
function retryAfterOf(error: unknown): number {
  return error instanceof KubeError ? (error.retryAfterSeconds ?? 0) : 0;
}
