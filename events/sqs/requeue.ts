import { hash } from 'node:crypto';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';
import type { SqsRunner } from './runner.ts';

/**
 * Sends a change through the delay queue, to run again in so many seconds.
 * @param atLeastSeconds the wait that an API server asks for, which is never undercut
 * @param attempt set when the run has failed: SQS counts the receives of the next message from 1 again
 */
export function requeue(
  { name, queue, sender, now }: Pick<SqsRunner, 'name' | 'queue' | 'sender' | 'now'>,
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

/** From this wait on a run may also come earlier. */
const LONG_SECONDS = 60;

/**
 * Returns when a function that asked for another run in so many seconds gets it: on a grid of the key. Without a grid
 * every run for another cause would start one more endless chain of requeues; runs that name the same moment have equal
 * changes, of which the queue's deduplication keeps one.
 * - A long wait ends at the point of a grid with that step which is nearest to its end, after half to one and a half
 *   times the wait. So a run between two points names the next one or the one after it, where the chain already is or
 *   arrives, and never a third.
 * - A short wait ends up to a quarter (or 1 s) late and never early, because something is awaited.
 */
export function requeueTime(now: Date, afterSeconds: number, key: ReconcileKey, atLeastSeconds = 0): Date {
  const isLong = afterSeconds >= LONG_SECONDS;
  const step = Math.max(1, Math.ceil(isLong ? afterSeconds : afterSeconds / 4)) * 1000;
  // Its own offset: Shoots that began together do not come due together.
  const offset = Number.parseInt(hash('sha256', keyText(key), 'hex').slice(0, 12), 16) % step;
  const wished = (now.getTime() + afterSeconds * 1000 - offset) / step;
  const earliest = Math.ceil((now.getTime() + atLeastSeconds * 1000 - offset) / step);
  return new Date(Math.max(isLong ? Math.round(wished) : Math.ceil(wished), earliest) * step + offset);
}
