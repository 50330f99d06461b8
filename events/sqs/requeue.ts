import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { SqsRunner } from './runner.ts';

/**
 * Sends a change through the delay queue, to run again in so many seconds.
 * @param attempt set when the run has failed: SQS counts the receives of the next message from 1 again
 */
export function requeue(
  { name, queue, sender, now }: Pick<SqsRunner, 'name' | 'queue' | 'sender' | 'now'>,
  change: ChangeRequest,
  afterSeconds: number,
  attempt?: number,
): Promise<void> {
  if (queue === 'standard') return sender.sendDelayed(change, afterSeconds);
  const current = now();
  const notBefore = requeueTime(current, afterSeconds);
  const next: ChangeRequest = {
    function: name,
    key: change.key,
    cause: { type: 'notBefore', notBefore: notBefore.toISOString(), attempt },
  };
  return sender.sendDelayed(next, (notBefore.getTime() - current.getTime()) / 1000);
}

/**
 * Returns when a function that asked for another run in so many seconds gets it: never earlier, at most a quarter (or
 * 1 s) later, on a grid. Without the grid every run for another cause would start one more endless chain of requeues;
 * on it their changes have the same `notBefore`, and the queue's deduplication keeps one.
 */
export function requeueTime(now: Date, afterSeconds: number): Date {
  const gridMs = Math.max(1, Math.ceil(afterSeconds / 4)) * 1000;
  return new Date(Math.ceil((now.getTime() + afterSeconds * 1000) / gridMs) * gridMs);
}
