import { describeError } from '../../shared/runtime/describe-error.ts';
import { afterFailure, retryAfterOf } from '../retry.ts';
import type { Ending } from '../run/report.ts';
import { laterChange } from '../waits.ts';
import type { Group, Unreadable } from './groups.ts';
import type { SqsRunner } from './runner.ts';

/** How a run ended. `isRedelivered`: its kept message stays in the queue. */
export type SqsEnding = Ending & { isRedelivered?: boolean };

/** A longer wait goes through the delay queue: a hidden message blocks its group, and with it the edit that helps. */
const MOST_HIDDEN_SECONDS = 10;

/** How long a message is hidden, and blocks its group, when another queue does not take it. */
const UNSENT_HIDDEN_SECONDS = 60;

/**
 * Retries the kept change of a group whose run has failed, drops it, or sends it to the dead-letter queue. Its retry stands
 * for the whole group; it is given up only when it is exhausted itself.
 */
export async function handleFailure(runner: SqsRunner, group: Group, error: unknown): Promise<SqsEnding> {
  const { record, change, attempt } = group.kept;
  const next = afterFailure(error, { attempt, isResync: group.isResync }, runner.lastAttempt);
  if (next.type === 'drop') return { result: 'dropped', error };
  const seconds = next.type === 'deadLetter' ? UNSENT_HIDDEN_SECONDS : next.seconds;
  try {
    if (next.type === 'deadLetter') {
      await deadLetter(runner, record, `${describeError(error)} (attempt ${attempt})`);
      return { result: 'dead_letter', error };
    }
    if (runner.hasGroups && (next.type === 'long' || seconds > MOST_HIDDEN_SECONDS)) {
      const options = { attempt: next.attempt, atLeastSeconds: retryAfterOf(error) };
      const later = laterChange(change, seconds, runner.now(), options);
      await runner.sender.retryLater(later.change, later.seconds);
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
    await deadLetter(runner, record, reason);
    runner.log.error('unreadable message', { ...fields, error: reason });
    return [];
  } catch (error) {
    runner.log.warn('dead letter not sent', { ...fields, error: describeError(error) });
    return [record.messageId];
  }
}

function deadLetter(runner: SqsRunner, record: Unreadable['record'], reason: string): Promise<void> {
  return runner.sender.deadLetter({
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
