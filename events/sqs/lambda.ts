import middy from '@middy/core';
import type { Context as LambdaContext, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Context } from '../../shared/runtime/context.ts';
import { keyText } from '../../shared/runtime/key.ts';
import { ABORT_EARLY_MS, withinTime } from './deadline.ts';
import { handleFailure, rejectUnreadable } from './failure.ts';
import { type Group, groupRecords } from './groups.ts';
import { type Ending, report } from './report.ts';
import { requeue } from './requeue.ts';
import { type QueueFunction, type Runner, type RunnerDependencies, runnerOf } from './runner.ts';

/** What Lambda's event source mapping, or the embedded poller, calls with a batch of messages. */
export type SqsLambda = (event: SQSEvent, context: LambdaContext) => Promise<SQSBatchResponse>;

/**
 * Creates the Lambda of a function. Changes of one key become one run, and runs of different keys are concurrent. The
 * response names the messages that SQS shall redeliver; a failing change or function never makes the Lambda throw.
 */
export function createSqsLambda(queueFunction: QueueFunction, dependencies: RunnerDependencies): SqsLambda {
  const runner = runnerOf(queueFunction, dependencies);
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

async function runBatch(runner: Runner, { Records }: SQSEvent, signal: AbortSignal): Promise<SQSBatchResponse> {
  const { groups, unreadable } = groupRecords(Records, runner.queue === 'fifo' ? runner.name : undefined);
  const redelivered = await Promise.all([
    ...groups.map((group) => runGroup(runner, group, signal)),
    ...unreadable.map((message) => rejectUnreadable(runner, message)),
  ]);
  return { batchItemFailures: redelivered.flat().map((itemIdentifier) => ({ itemIdentifier })) };
}

/**
 * Runs the function once for the changes of one key. Returns the ids of the messages that SQS shall redeliver: none, or
 * the oldest. The others are superseded in either case, because the next run for the oldest reads the same objects.
 */
async function runGroup(runner: Runner, group: Group, signal: AbortSignal): Promise<string[]> {
  const started = performance.now();
  const ending = await runHandler(runner, group, signal);
  report(runner, group, ending, (performance.now() - started) / 1000);
  return ending.isRedelivered ? [group.records[0].messageId] : [];
}

/** Calls `handler` of `functions/<name>/handler.ts`, and requeues or retries the change as it asks. */
async function runHandler(runner: Runner, group: Group, signal: AbortSignal): Promise<Ending> {
  const [change] = group.changes;
  try {
    const outcome = await withinTime(runner.invoke(change, contextOf(runner, group, signal)), signal);
    if (outcome.type === 'done') return { result: 'done' };
    // Sent first, acknowledged after: killed in between, the change arrives twice, which is harmless.
    await requeue(runner, change, outcome.afterSeconds);
    return { result: 'requeue', seconds: outcome.afterSeconds };
  } catch (error) {
    return handleFailure(runner, group, error);
  }
}

function contextOf(runner: Runner, { changes }: Group, signal: AbortSignal): Context {
  const { settings, sender, now, metrics, name } = runner;
  return {
    kube: (cluster) => runner.kube(cluster, signal),
    settings,
    send: (requests) => sender.send(requests),
    causes: changes.map(({ cause }) => cause),
    now,
    log: runner.log.with({ function: name, key: keyText(changes[0].key) }),
    metrics,
    signal,
  };
}
