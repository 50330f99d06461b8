import type { Context as LambdaContext, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { RetryableError } from '../../shared/errors.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';
import { afterFailure, isServed, LAST_ATTEMPT, NotServedError, retryAfterOf } from '../retry.ts';
import {
  ABORT_EARLY_MS,
  type Ending,
  type ProcessDependencies,
  type QueueFunction,
  type Run,
  type Runner,
  report,
  runnerOf,
  runOnce,
} from '../run.ts';
import { laterChange } from '../waits.ts';
import type { ChangeVisibility } from './batcher.ts';
import { type Group, groupRecords, type Received, type Unreadable } from './groups.ts';
import { DELAY, MAX_RECEIVE_COUNT } from './queues.ts';
import type { Sender } from './sender.ts';

/** What a function whose changes come from SQS needs. */
export interface SqsDependencies extends ProcessDependencies {
  sender: Sender;
  /** For the queue that the records come from. */
  visibility: ChangeVisibility;
}

/** A function with its queue of SQS. */
interface SqsRunner extends Runner, SqsDependencies {
  /** True for a FIFO queue, where a message that waits holds up its group: waits go through the delay queue. */
  hasGroups: boolean;
  /** The attempt after which a change goes to the dead-letter queue. */
  lastAttempt: number;
}

/** What Lambda's event source mapping calls with a batch of messages. */
export type SqsLambda = (event: SQSEvent, context: LambdaContext) => Promise<SQSBatchResponse>;

/**
 * Creates the Lambda of a function. Changes of one key become one run, and runs of different keys are concurrent. The
 * response names the messages that SQS shall redeliver; a failing change or function never makes the Lambda throw.
 */
export function createSqsLambda(queueFunction: QueueFunction, dependencies: SqsDependencies): SqsLambda {
  const { sender } = dependencies;
  const runner = runnerOf(queueFunction, { ...dependencies, send: (changes) => sender.send(changes) });
  return lambdaOf({ ...dependencies, ...runner, hasGroups: true, lastAttempt: LAST_ATTEMPT });
}

/**
 * Creates the Lambda of the delay queue, which holds changes until they are due, so that a long wait blocks no other change
 * of the same key, and sends them back to the queues of their functions. SQS delays by at most 15 minutes: then they are
 * delayed again.
 */
export function createDelayLambda(dependencies: SqsDependencies): SqsLambda {
  const { sender, now } = dependencies;
  const send: Runner['send'] = (changes) => sender.send(changes);
  const invoke: Runner['invoke'] = async (change) => {
    const seconds = secondsUntilDue(change.cause, now());
    if (seconds > 0) return requeueAfter(seconds);
    await send([change]);
    return done;
  };
  // Retries stay in the queue, so the queue's own limit comes first.
  return lambdaOf({ ...dependencies, name: DELAY, send, invoke, hasGroups: false, lastAttempt: MAX_RECEIVE_COUNT });
}

/** Returns the seconds until a change is due, 0 or less when it is due now. */
function secondsUntilDue(cause: Cause, now: Date): number {
  if (!('notBefore' in cause) || cause.notBefore === undefined) return 0;
  return (Date.parse(cause.notBefore) - now.getTime()) / 1000;
}

function lambdaOf(runner: SqsRunner): SqsLambda {
  return async (event, context) => {
    // The signal aborts every run, and a moment later the batch knows which keys were done in time. Unlike
    // AbortSignal.timeout, this timer keeps the process alive, also while all runs wait for something that does not.
    const ending = new AbortController();
    const leftMs = Math.max(0, context.getRemainingTimeInMillis() - ABORT_EARLY_MS);
    const timer = setTimeout(() => ending.abort(), leftMs);
    try {
      return await runBatch(runner, event, ending.signal);
    } finally {
      clearTimeout(timer);
    }
  };
}

async function runBatch(runner: SqsRunner, { Records }: SQSEvent, signal: AbortSignal): Promise<SQSBatchResponse> {
  const { groups, unreadable } = groupRecords(Records, runner.hasGroups ? runner.name : undefined);
  const redelivered = await Promise.all([
    ...groups.map((group) => runGroup(runner, group, signal)),
    ...unreadable.map((message) => rejectUnreadable(runner, message)),
  ]);
  return { batchItemFailures: redelivered.flat().map((itemIdentifier) => ({ itemIdentifier })) };
}

/**
 * Runs the function once for the changes of one key. Returns the ids of the messages that SQS shall redeliver: none, or
 * the kept one. The others are superseded in either case, because the next run for it reads the same objects.
 */
async function runGroup(runner: SqsRunner, group: Group, signal: AbortSignal): Promise<string[]> {
  const started = performance.now();
  const ending = await runHandler(runner, group, signal);
  report(runner, runOf(group), ending, (performance.now() - started) / 1000);
  return ending.isRedelivered ? [group.kept.record.messageId] : [];
}

/** Runs the function, and requeues or retries the change as it asks. */
async function runHandler(runner: SqsRunner, group: Group, signal: AbortSignal): Promise<SqsEnding> {
  const { key, function: target } = group.kept.change;
  if (runner.hasGroups && group.kept.receives > MOST_RECEIVES) {
    const ending = await handleFailure(runner, group, new UnendedError(runner.name));
    // Where the delay queue takes nothing, a message is received again and again, too, and its run may succeed.
    if (ending.isRedelivered !== true) return ending;
  }
  if (target === runner.name && !isServed(key, runner.settings.seeds)) {
    return handleFailure(runner, group, new NotServedError(key.cluster, runner.settings.seeds));
  }
  const outcome = await runOnce(runner, runOf(group), signal);
  if (outcome.type === 'done') return { result: 'done' };
  if (outcome.type === 'failed') return handleFailure(runner, group, outcome.error);
  try {
    // Sent first, acknowledged after: killed in between, the change arrives twice, which is harmless.
    const { change } = group.kept;
    const wait = { change, seconds: outcome.afterSeconds };
    const later = runner.hasGroups ? laterChange(change, outcome.afterSeconds, runner.now()) : wait;
    await runner.sender.retryLater(later.change, later.seconds);
    return { result: 'requeue', seconds: outcome.afterSeconds };
  } catch (error) {
    return handleFailure(runner, group, error);
  }
}

function runOf({ all, kept }: Group): Run {
  const [first, ...others] = all;
  const changes: Run['changes'] = [first.change, ...others.map(({ change }) => change)];
  return { changes, attempt: kept.attempt, dueAt: dueAt(first), superseded: others.length };
}

/** Returns when a change became due: time in the delay queue is no delay. */
function dueAt({ record, change: { cause } }: Received): number {
  const sentAt = Number(record.attributes.SentTimestamp);
  if (!('notBefore' in cause) || cause.notBefore === undefined) return sentAt;
  return Math.max(sentAt, Date.parse(cause.notBefore));
}

/** How a run ended. `isRedelivered`: its kept message stays in the queue. */
type SqsEnding = Ending & { isRedelivered?: boolean };

/** A run that ends is repeated twice at most, after conflicts: more receives mean that Lambdas were killed or throttled. */
const MOST_RECEIVES = 3;

/** The batch of a killed Lambda returns as it was and holds up its group, until each of its keys goes through the delay queue. */
class UnendedError extends RetryableError {
  override name = 'UnendedError';

  constructor(lambda: string) {
    super(
      `The Lambda ${lambda} did not end a run for this change in ${MOST_RECEIVES} deliveries; see its log and its throttles, ` +
        'and raise memorySize if it ran out of memory.',
    );
  }
}

/** How long a message is hidden, and blocks its group, when another queue does not take it. */
const UNSENT_HIDDEN_SECONDS = 60;

/**
 * Retries the kept change of a group whose run has failed, drops it, or sends it to the dead-letter queue. Its retry stands
 * for the whole group; it is given up only when it is exhausted itself.
 */
async function handleFailure(runner: SqsRunner, group: Group, error: unknown): Promise<SqsEnding> {
  const { record, change, attempt } = group.kept;
  const next = afterFailure(error, { attempt, isResync: group.isResync }, runner.lastAttempt);
  if (next.type === 'drop') return { result: 'dropped', error };
  const seconds = next.type === 'deadLetter' ? UNSENT_HIDDEN_SECONDS : next.seconds;
  try {
    if (next.type === 'deadLetter') {
      await runner.sender.deadLetter(runner.name, record, `${describeError(error)} (attempt ${attempt})`);
      return { result: 'dead_letter', error };
    }
    if (runner.hasGroups && seconds > 0) {
      // In the delay queue it would be a change of its own, with 40 attempts.
      if (group.isResync) return { result: 'dropped', error };
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
  // If that fails, SQS redelivers the message when its visibility timeout ends.
  await runner.visibility(record.receiptHandle, hidden).catch((failure) => {
    runner.log.warn('visibility change failed', { function: runner.name, error: describeError(failure) });
  });
  return { result: 'retry', seconds: hidden, error, isRedelivered: true };
}

/** Sends a message that is no valid change to the dead-letter queue. Returns the ids of messages to redeliver. */
async function rejectUnreadable(runner: SqsRunner, { record, reason }: Unreadable): Promise<string[]> {
  const fields = { function: runner.name, messageId: record.messageId };
  runner.metrics.count('terminal_total', { function: runner.name });
  try {
    await runner.sender.deadLetter(runner.name, record, reason);
    runner.log.error('unreadable message', { ...fields, error: reason });
    return [];
  } catch (error) {
    runner.log.warn('dead letter not sent', { ...fields, error: describeError(error) });
    return [record.messageId];
  }
}
