import { RetryableError } from '../../shared/errors.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import { decideRetry, LAST_ATTEMPT, SHORT_ATTEMPTS } from '../run/retry.ts';
import type { Attributes } from './event.ts';

/** What follows when the broker has given an event up. */
export type AfterDeadLetter =
  | { type: 'retry'; seconds: number; attempt: number }
  /** Nothing: the next resync looks at the key again. */
  | { type: 'drop' }
  | { type: 'deadLetter'; reason: string; attempts: number };

/**
 * Decides what follows when the broker has given an event up. A function that answered 400 or 422 has refused the
 * change. Otherwise only the broker's short retries are used up, and long ones follow, as in the queue of one process.
 * @param isUp whether the cluster of the key answers: while it does not, its changes are never given up
 */
export function afterDeadLetter({ cause }: ChangeRequest, attributes: Attributes, isUp: boolean): AfterDeadLetter {
  const before = 'attempt' in cause ? (cause.attempt ?? 0) : 0;
  const attempts = Math.max(before, SHORT_ATTEMPTS) + 1;
  const reason = reasonOf(attributes);
  if (isPermanent(attributes.knativeerrorcode)) return { type: 'deadLetter', reason, attempts };
  if (cause.type === 'resync') return { type: 'drop' };
  const attempt = isUp ? attempts : Math.min(attempts, LAST_ATTEMPT - 1);
  // The grid of the key spreads long waits.
  const retry = decideRetry(new RetryableError(reason), attempt, 1);
  return retry.type === 'deadLetter'
    ? { type: 'deadLetter', reason, attempts }
    : { type: 'retry', seconds: retry.seconds, attempt };
}

/** Codes below 500 that a broker sends again. */
const PASSING = [404, 408, 409, 429];

/** Without a code there was no answer. */
function isPermanent(code: string | undefined): boolean {
  const status = Number(code);
  return status >= 300 && status < 500 && !PASSING.includes(status);
}

function reasonOf({ knativeerrordata: data = '', knativeerrorcode: code }: Attributes): string {
  return textOf(data).trim() || (Number(code) > 0 ? `The function answered ${code}.` : 'The function did not answer.');
}

/** Knative passes the answer on in Base64, in which a sentence with spaces never is. */
function textOf(data: string): string {
  const text = /^[A-Za-z0-9+/]+={0,2}$/.test(data) ? decoded(data) : data;
  return answerInside(text) ?? text;
}

/** Knative's filter wraps the answer of a function, and its dispatcher unwraps it only if it knows the filter by its host. */
function answerInside(text: string): string | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const { errresponsebody: body } = JSON.parse(text);
    return typeof body === 'string' ? decoded(body) : undefined;
  } catch {
    return undefined;
  }
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}
