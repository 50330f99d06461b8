import middy from '@middy/core';
import type { Context as LambdaContext, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { isServed, NotServedError } from '../retry.ts';
import { ABORT_EARLY_MS } from '../run/deadline.ts';
import { report } from '../run/report.ts';
import { type QueueFunction, type Run, runOnce } from '../run/runner.ts';
import { laterChange } from '../waits.ts';
import { handleFailure, rejectUnreadable, type SqsEnding } from './failure.ts';
import { type Group, groupRecords, type Received } from './groups.ts';
import { delayRunnerOf, type SqsDependencies, type SqsRunner, sqsRunnerOf } from './runner.ts';

/** What Lambda's event source mapping calls with a batch of messages. */
export type SqsLambda = (event: SQSEvent, context: LambdaContext) => Promise<SQSBatchResponse>;

/**
 * Creates the Lambda of a function. Changes of one key become one run, and runs of different keys are concurrent. The
 * response names the messages that SQS shall redeliver; a failing change or function never makes the Lambda throw.
 */
export function createSqsLambda(queueFunction: QueueFunction, dependencies: SqsDependencies): SqsLambda {
  return lambdaOf(sqsRunnerOf(queueFunction, dependencies));
}

/** Creates the Lambda of the delay queue, which sends changes back to the queues of their functions when they are due. */
export function createDelayLambda(dependencies: SqsDependencies): SqsLambda {
  return lambdaOf(delayRunnerOf(dependencies));
}

function lambdaOf(runner: SqsRunner): SqsLambda {
  const batches = new WeakMap<SQSEvent, Promise<SQSBatchResponse>>();
  const lambda = middy<SQSEvent, SQSBatchResponse>(
    (event: SQSEvent, _context: LambdaContext, { signal }: { signal: AbortSignal }) => {
      const batch = runBatch(runner, event, signal);
      batches.set(event, batch);
      return batch;
    },
    { timeoutEarlyInMillis: ABORT_EARLY_MS },
  );
  // The signal has aborted every run, and a moment later the batch knows which keys were done in time.
  lambda.onError(({ error, event }) => (error?.name === 'TimeoutError' ? batches.get(event) : undefined));
  return (event, context) => lambda(event, context);
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
