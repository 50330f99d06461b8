import { retryWithinSeconds, TerminalError } from '../../shared/errors.ts';
import { ConflictError, KubeError } from '../../shared/kube/errors.ts';

/** What becomes of a change whose run has failed. */
export type Retry =
  /** Stays in its queue, hidden; its group waits with it, so only for short waits. */
  | { type: 'visibility'; seconds: number }
  /** Goes through the delay queue: the group is free, a new change runs at once. */
  | { type: 'delay'; seconds: number }
  | { type: 'deadLetter' };

/** Up to here an attempt is repeated by visibility: 1, 2, 4, … 60 s, some two minutes in all. */
const VISIBILITY_ATTEMPTS = 8;
const VISIBILITY_CAP_SECONDS = 60;
/** Beyond it the waits grow to this. */
const DELAY_CAP_SECONDS = 900;

/** So long somebody waits: 20 tries of at most 15 s outlast the three minutes of gardenlet. */
const WAITED_FOR_ATTEMPTS = 20;

/** The last attempt: after seven hours, four where somebody waited at first. */
export const LAST_ATTEMPT = 40;

/**
 * Back-off of a failed run. A conflict means that somebody else was faster: read again at once.
 * @param attempt counts from 1
 * @param random between 0 and 1: keys that failed together do not come back together
 * @param lastAttempt after it the change is given up
 */
export function decideRetry(error: unknown, attempt: number, random: number, lastAttempt = LAST_ATTEMPT): Retry {
  if (error instanceof TerminalError || attempt >= lastAttempt) return { type: 'deadLetter' };
  if (attempt <= VISIBILITY_ATTEMPTS && error instanceof ConflictError) {
    return { type: 'visibility', seconds: attempt <= 2 ? 0 : 1 };
  }
  const wished = retryWithinSeconds(error);
  if (attempt <= VISIBILITY_ATTEMPTS) {
    const cap = Math.min(wished ?? VISIBILITY_CAP_SECONDS, VISIBILITY_CAP_SECONDS);
    return { type: 'visibility', seconds: jittered(Math.max(2 ** (attempt - 1), askedFor(error)), cap, random) };
  }
  const quick = wished === undefined ? VISIBILITY_ATTEMPTS : WAITED_FOR_ATTEMPTS;
  if (wished !== undefined && attempt <= quick) return { type: 'delay', seconds: jittered(wished, wished, random) };
  return { type: 'delay', seconds: jittered(60 * 2 ** (attempt - quick - 1), DELAY_CAP_SECONDS, random) };
}

/** Between 75 % and 100 %, whole seconds as SQS takes them, at least one. */
function jittered(seconds: number, cap: number, random: number): number {
  return Math.max(1, Math.round(Math.min(seconds, cap) * (0.75 + 0.25 * random)));
}

/** Retry-After of the API server. */
function askedFor(error: unknown): number {
  return error instanceof KubeError ? (error.retryAfterSeconds ?? 0) : 0;
}
