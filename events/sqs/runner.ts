import type { Cause } from '../../shared/runtime/change-request.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';
import { LAST_ATTEMPT } from '../retry.ts';
import { type ProcessDependencies, type QueueFunction, type Runner, runnerOf } from '../run/runner.ts';
import type { ChangeVisibility } from './batcher.ts';
import { DELAY, MAX_RECEIVE_COUNT } from './queues.ts';
import type { Sender } from './sender.ts';

/** What a function whose changes come from SQS needs. */
export interface SqsDependencies extends ProcessDependencies {
  sender: Sender;
  /** For the queue that the records come from. */
  visibility: ChangeVisibility;
}

/** A function with its queue of SQS. */
export interface SqsRunner extends Runner {
  /** True for a FIFO queue with a group for each key; its long waits go through the delay queue. */
  hasGroups: boolean;
  sender: Sender;
  visibility: ChangeVisibility;
  /** The attempt after which a change goes to the dead-letter queue. */
  lastAttempt: number;
}

/** Returns the runner of a function whose changes come from SQS. */
export function sqsRunnerOf(queueFunction: QueueFunction, dependencies: SqsDependencies): SqsRunner {
  const { sender } = dependencies;
  const runner = runnerOf(queueFunction, { ...dependencies, send: (changes) => sender.send(changes) });
  return { ...dependencies, ...runner, hasGroups: true, lastAttempt: LAST_ATTEMPT };
}

/**
 * Returns what holds changes until they are due, so that a long wait blocks no other change of the same key. SQS delays by
 * at most 15 minutes: then they are delayed again.
 */
export function delayRunnerOf(dependencies: SqsDependencies): SqsRunner {
  const { sender, now } = dependencies;
  const send: Runner['send'] = (changes) => sender.send(changes);
  const invoke: Runner['invoke'] = async (change) => {
    const seconds = secondsUntilDue(change.cause, now());
    if (seconds > 0) return requeueAfter(seconds);
    await send([change]);
    return done;
  };
  // Retries stay in the queue, so the queue's own limit comes first.
  return { ...dependencies, name: DELAY, send, invoke, hasGroups: false, lastAttempt: MAX_RECEIVE_COUNT };
}

/** Returns the seconds until a change is due, 0 or less when it is due now. */
function secondsUntilDue(cause: Cause, now: Date): number {
  if (!('notBefore' in cause) || cause.notBefore === undefined) return 0;
  return (Date.parse(cause.notBefore) - now.getTime()) / 1000;
}
