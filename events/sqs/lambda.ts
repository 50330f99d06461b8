import middy from '@middy/core';
import type { Context as LambdaContext, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { ChangeHandler, Handler } from '../../shared/runtime/context.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { ABORT_EARLY_MS } from './deadline.ts';
import { groupRecords, type Unreadable } from './groups.ts';
import { MAX_RECEIVE_COUNT } from './limits.ts';
import { LAST_ATTEMPT } from './retry.ts';
import { type Runner, type RunnerDependencies, runGroup } from './run-group.ts';

/** A function folder: `definition` of its function.ts, `handler` of its handler.ts. */
export type QueueFunction =
  | { definition: FunctionDefinition & { queue?: 'fifo' }; handler: Handler }
  | { definition: FunctionDefinition & { queue: 'standard' }; handler: ChangeHandler };

/** What Lambda's event source mapping calls, and the embedded poller too. */
export type SqsLambda = (event: SQSEvent, context: LambdaContext) => Promise<SQSBatchResponse>;

/**
 * The Lambda of a function: changes of one key become one run, runs of different keys go side by side, and the answer
 * names just the messages that are to come again. It never throws for what a change or a function does wrong.
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
  const comingAgain = await Promise.all([
    ...groups.map((group) => runGroup(runner, group, signal)),
    ...unreadable.map((message) => putAside(runner, message)),
  ]);
  return { batchItemFailures: comingAgain.flat().map((itemIdentifier) => ({ itemIdentifier })) };
}

/** A message that nobody understands does not get better by waiting. */
async function putAside(runner: Runner, { record, reason }: Unreadable): Promise<string[]> {
  const fields = { function: runner.name, messageId: record.messageId };
  runner.metrics.count('terminal_total', { function: runner.name });
  try {
    await runner.sender.sendToDeadLetter({
      function: runner.name,
      body: record.body,
      reason,
      messageId: record.messageId,
      groupId: record.attributes.MessageGroupId,
    });
    runner.log.error('unreadable message', { ...fields, error: reason });
    return [];
  } catch (error) {
    runner.log.warn('unreadable message not put aside', { ...fields, error: describeError(error) });
    return [record.messageId];
  }
}

function runnerOf(queueFunction: QueueFunction, dependencies: RunnerDependencies): Runner {
  const { name } = queueFunction.definition;
  if (isStandard(queueFunction)) {
    const { handler } = queueFunction;
    // Retries stay in the queue, so the queue's own limit comes first.
    return { ...dependencies, name, queue: 'standard', invoke: handler, lastAttempt: MAX_RECEIVE_COUNT };
  }
  const { handler } = queueFunction;
  const invoke: Runner['invoke'] = ({ key }, context) => handler(key, context);
  return { ...dependencies, name, queue: 'fifo', invoke, lastAttempt: LAST_ATTEMPT };
}

function isStandard(candidate: QueueFunction): candidate is Extract<QueueFunction, { handler: ChangeHandler }> {
  return candidate.definition.queue === 'standard';
}
