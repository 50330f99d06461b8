import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Ending } from '../run/report.ts';
import { decideRetry } from '../run/retry.ts';
import type { Group, Unreadable } from './groups.ts';
import { requeue } from './requeue.ts';
import type { SqsRunner } from './runner.ts';

/** How a run ended. `isRedelivered`: its oldest message stays in the queue. */
export type SqsEnding = Ending & { isRedelivered?: boolean };

/** Retries a change whose run has failed, or sends it to the dead-letter queue. */
export async function handleFailure(runner: SqsRunner, group: Group, error: unknown): Promise<SqsEnding> {
  const { attempt } = group;
  const retry = decideRetry(error, attempt, Math.random(), runner.lastAttempt);
  const seconds = retry.type === 'deadLetter' ? 60 : retry.seconds;
  try {
    if (retry.type === 'deadLetter') {
      await sendToDeadLetter(runner, group.records[0], `${describeError(error)} (attempt ${attempt})`);
      return { result: 'dead_letter', error };
    }
    if (retry.type === 'long' && runner.queue === 'fifo') {
      await requeue(runner, group.changes[0], seconds, attempt);
      return { result: 'retry', seconds, error };
    }
  } catch (failure) {
    // The message is still in its queue, which is as good a place to wait.
    runner.log.warn('requeue failed', { function: runner.name, error: describeError(failure) });
  }
  await hide(runner, group, seconds);
  return { result: 'retry', seconds, error, isRedelivered: true };
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

/** Hides the oldest message for the back-off. If that fails, SQS redelivers it when its visibility timeout ends. */
async function hide(runner: SqsRunner, { records: [record] }: Group, seconds: number): Promise<void> {
  try {
    await runner.visibility(record.receiptHandle, seconds);
  } catch (failure) {
    runner.log.warn('visibility change failed', { function: runner.name, error: describeError(failure) });
  }
}
