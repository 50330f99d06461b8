import { TerminalError } from '../../shared/errors.ts';
import { ClusterDownError } from '../../shared/kube/errors.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { NOT_SERVED_SECONDS, NotServedError } from '../run/not-served.ts';
import type { Ending } from '../run/report.ts';
import { requeue } from '../run/requeue.ts';
import { DOWN_ATTEMPTS, decideRetry, type Retry, retryAfterOf, SHORT_ATTEMPTS } from '../run/retry.ts';
import type { Group, Unreadable } from './groups.ts';
import type { SqsRunner } from './runner.ts';

/** How a run ended. `isRedelivered`: its kept message stays in the queue. */
export type SqsEnding = Ending & { isRedelivered?: boolean };

/** How long a message is hidden, and blocks its group, when another queue does not take it. */
const UNSENT_HIDDEN_SECONDS = 60;

/**
 * Retries the kept change of a group whose run has failed, drops it, or sends it to the dead-letter queue. Its retry stands
 * for the whole group; it is given up only when it is exhausted itself.
 */
export async function handleFailure(runner: SqsRunner, group: Group, error: unknown): Promise<SqsEnding> {
  const { record, change, attempt } = group.kept;
  const next = afterFailure(error, group, runner.lastAttempt);
  if (next.type === 'drop') return { result: 'dropped', error };
  const seconds = next.type === 'deadLetter' ? UNSENT_HIDDEN_SECONDS : next.seconds;
  try {
    if (next.type === 'deadLetter') {
      await sendToDeadLetter(runner, record, `${describeError(error)} (attempt ${attempt})`);
      return { result: 'dead_letter', error };
    }
    if (next.type === 'long' && runner.queue === 'fifo') {
      await requeue(runner, change, seconds, next.attempt, retryAfterOf(error));
      return { result: 'retry', seconds, error };
    }
  } catch (failure) {
    // The message is still in its queue, which is as good a place to wait.
    runner.log.warn('requeue failed', { function: runner.name, error: describeError(failure) });
  }
  const hidden = Math.min(seconds, UNSENT_HIDDEN_SECONDS);
  await hide(runner, group, hidden);
  return { result: 'retry', seconds: hidden, error, isRedelivered: true };
}

/** Sends a message that is no valid change to the dead-letter queue. Returns the ids of messages to redeliver. */
export async function rejectUnreadable(runner: SqsRunner, { record, reason }: Unreadable): Promise<string[]> {
  const fields = { function: runner.name, messageId: record.messageId };
  runner.metrics.count('terminal_total', { function: runner.name });
  try {
    await sendToDeadLetter(runner, record, reason);
    runner.log.error('unreadable message', { ...fields, error: reason });
    return [];
  } catch (error) {
    runner.log.warn('dead letter not sent', { ...fields, error: describeError(error) });
    return [record.messageId];
  }
}

function sendToDeadLetter(runner: SqsRunner, record: Unreadable['record'], reason: string): Promise<void> {
  return runner.sender.sendToDeadLetter({
    function: runner.name,
    body: record.body,
    reason,
    messageId: record.messageId,
    groupId: record.attributes.MessageGroupId,
  });
}

/** Hides the kept message for the back-off. If that fails, SQS redelivers it when its visibility timeout ends. */
async function hide(runner: SqsRunner, { kept: { record } }: Group, seconds: number): Promise<void> {
  try {
    await runner.visibility(record.receiptHandle, seconds);
  } catch (failure) {
    runner.log.warn('visibility change failed', { function: runner.name, error: describeError(failure) });
  }
}

/** What follows a failed run. */
type AfterFailure =
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
