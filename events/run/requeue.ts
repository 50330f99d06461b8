import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';
import { endOfLongWait, gridOf, isLongWait } from './grid.ts';

/** A function, and what keeps its changes until they are due. */
export interface Requeuer {
  /** The function's name. */
  name: string;
  queue: 'fifo' | 'standard';
  sender: { sendDelayed(change: ChangeRequest, delaySeconds: number): Promise<void> };
  now(): Date;
}

/**
 * Sends a change that runs again in so many seconds.
 * @param atLeastSeconds the wait that an API server asks for, which is never undercut
 * @param attempt set when the run has failed: a queue counts the deliveries of the next change from 1 again
 */
export function requeue(
  { name, queue, sender, now }: Requeuer,
  change: ChangeRequest,
  afterSeconds: number,
  attempt?: number,
  atLeastSeconds = 0,
): Promise<void> {
  if (queue === 'standard') return sender.sendDelayed(change, afterSeconds);
  const current = now();
  const due = requeueTime(current, afterSeconds, change.key, atLeastSeconds);
  const next: ChangeRequest = { function: name, key: change.key, cause: causeAt(due.toISOString(), change, attempt) };
  return sender.sendDelayed(next, (due.getTime() - current.getTime()) / 1000);
}

function causeAt(notBefore: string, { cause }: ChangeRequest, attempt: number | undefined): Cause {
  // Only a retry: where a pass stopped is known to nothing else.
  if (cause.type === 'continue' && attempt !== undefined) return { ...cause, notBefore, attempt };
  return { type: 'notBefore', notBefore, attempt };
}

/**
 * Returns when a function that asked for another run in so many seconds gets it: on a grid of the key. Without a grid
 * every run for another cause would start one more endless chain of requeues; runs that name the same moment have equal
 * changes, of which the queue's deduplication keeps one.
 * - A long wait ends at the nearest point, as in the queue of one process.
 * - A short wait ends up to a quarter (or 1 s) late and never early, because something is awaited.
 */
export function requeueTime(now: Date, afterSeconds: number, key: ReconcileKey, atLeastSeconds = 0): Date {
  const begun = now.getTime();
  if (isLongWait(afterSeconds)) return new Date(endOfLongWait(begun, afterSeconds, key, atLeastSeconds));
  return new Date(gridOf(key, afterSeconds / 4).from(begun + Math.max(afterSeconds, atLeastSeconds) * 1000));
}
