import { hash } from 'node:crypto';
import type { Cause, ChangeRequest } from '../shared/runtime/change-request.ts';
import { keyText, type ReconcileKey } from '../shared/runtime/key.ts';

/** A wait of at least so long ends at a point of the grid of its key, and may be shorter; others end on time. */
const LONG_SECONDS = 60;

/**
 * Returns the grid of a key: moments at equal distances of so many whole seconds, at which its waits end. All times are in
 * ms of the caller's clock.
 */
function gridOf(key: ReconcileKey, stepSeconds: number) {
  const step = Math.max(1, Math.ceil(stepSeconds)) * 1000;
  // Its own offset: Shoots that began together do not come due together.
  const offset = Number.parseInt(hash('sha256', keyText(key), 'hex').slice(0, 12), 16) % step;
  return {
    nearest: (time: number) => Math.round((time - offset) / step) * step + offset,
    /** Returns the first moment that is not before the time. */
    from: (time: number) => Math.ceil((time - offset) / step) * step + offset,
  };
}

/**
 * Rounds the end of a long wait to the nearest point of a grid with that step, 0.5 to 1.5 times the wait away. So a run
 * between two points names the next one or the one after it, where the chain already is or arrives, and never a third;
 * and keys that ran together, after a start, an edit or an outage, are looked at one after the other.
 * @param atLeastSeconds the wait that an API server asks for, which is never undercut
 */
function endOfLongWait(now: number, seconds: number, key: ReconcileKey, atLeastSeconds = 0): number {
  const grid = gridOf(key, seconds);
  return Math.max(grid.nearest(now + seconds * 1000), grid.from(now + atLeastSeconds * 1000));
}

/** Returns when a wait ends in the keyed queue, in ms of the clock of `now`: a short one exactly on time. */
export function endOfWait(now: number, seconds: number, key: ReconcileKey, atLeastSeconds = 0): number {
  return seconds >= LONG_SECONDS ? endOfLongWait(now, seconds, key, atLeastSeconds) : now + seconds * 1000;
}

/**
 * Returns when a function that asked for another run in so many seconds gets it from a transport: on a grid of the key.
 * Without a grid every run for another cause would start one more endless chain of requeues; runs that name the same
 * moment have equal changes, of which a queue that drops repetitions keeps one.
 * - A long wait ends at the nearest point, as in the keyed queue.
 * - A short wait ends up to a quarter (or 1 s) late and never early, because something is awaited.
 */
export function requeueTime(now: Date, afterSeconds: number, key: ReconcileKey, atLeastSeconds = 0): Date {
  const begun = now.getTime();
  if (afterSeconds >= LONG_SECONDS) return new Date(endOfLongWait(begun, afterSeconds, key, atLeastSeconds));
  return new Date(gridOf(key, afterSeconds / 4).from(begun + Math.max(afterSeconds, atLeastSeconds) * 1000));
}

/**
 * Returns what a transport has to keep, and for how many seconds from now, so that the change runs again: it says itself when
 * it is due.
 * @param attempt set when the run has failed: a transport counts the deliveries of the next change from 1 again
 * @param atLeastSeconds the wait that an API server asks for, which is never undercut
 */
export function laterChange(
  { function: name, key, cause }: ChangeRequest,
  afterSeconds: number,
  now: Date,
  { attempt, atLeastSeconds }: { attempt?: number; atLeastSeconds?: number } = {},
): { change: ChangeRequest; seconds: number } {
  const due = requeueTime(now, afterSeconds, key, atLeastSeconds);
  const next: Cause = { type: 'notBefore', notBefore: due.toISOString(), attempt };
  // Only a retry: where a pass stopped is known to nothing else.
  const isRest = cause.type === 'continue' && attempt !== undefined;
  const change = { function: name, key, cause: isRest ? { ...cause, notBefore: next.notBefore, attempt } : next };
  return { change, seconds: (due.getTime() - now.getTime()) / 1000 };
}
