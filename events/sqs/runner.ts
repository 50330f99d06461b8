import { LAST_ATTEMPT } from '../run/retry.ts';
import { type ProcessDependencies, type QueueFunction, type Runner, runnerOf, takesChanges } from '../run/runner.ts';
import { MAX_RECEIVE_COUNT } from './limits.ts';
import type { Sender } from './sender.ts';
import type { ChangeVisibility } from './visibility.ts';

/** What a function whose changes come from SQS needs. */
export interface SqsDependencies extends ProcessDependencies {
  sender: Sender;
  /** For the queue that the records come from. */
  visibility: ChangeVisibility;
}

/** A function with its queue of SQS. */
export interface SqsRunner extends Runner {
  queue: 'fifo' | 'standard';
  sender: Sender;
  visibility: ChangeVisibility;
  /** The attempt after which a change goes to the dead-letter queue. */
  lastAttempt: number;
}

/** Returns the runner of a function whose changes come from SQS. */
export function sqsRunnerOf(queueFunction: QueueFunction, dependencies: SqsDependencies): SqsRunner {
  const { sender } = dependencies;
  const runner = runnerOf(queueFunction, { ...dependencies, send: (changes) => sender.send(changes) });
  // Retries of a standard queue stay in the queue, so the queue's own limit comes first.
  return takesChanges(queueFunction)
    ? { ...dependencies, ...runner, queue: 'standard', lastAttempt: MAX_RECEIVE_COUNT }
    : { ...dependencies, ...runner, queue: 'fifo', lastAttempt: LAST_ATTEMPT };
}
