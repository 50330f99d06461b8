import { hash } from 'node:crypto';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';

/** From this wait on a run may also come earlier. */
const LONG_SECONDS = 60;

/** Moments at equal distances, at which the waits of one key end. All times are in ms of the caller's clock. */
export interface Grid {
  nearest(time: number): number;
  /** Returns the first moment that is not before the time. */
  from(time: number): number;
}

/** Returns the grid of a key with steps of so many whole seconds. */
export function gridOf(key: ReconcileKey, stepSeconds: number): Grid {
  const step = Math.max(1, Math.ceil(stepSeconds)) * 1000;
  // Its own offset: Shoots that began together do not come due together.
  const offset = Number.parseInt(hash('sha256', keyText(key), 'hex').slice(0, 12), 16) % step;
  return {
    nearest: (time) => Math.round((time - offset) / step) * step + offset,
    from: (time) => Math.ceil((time - offset) / step) * step + offset,
  };
}

/** Returns whether a wait ends at a point of the grid of its key; a shorter one ends on time. */
export function isLongWait(seconds: number): boolean {
  return seconds >= LONG_SECONDS;
}

/**
 * Rounds the end of a long wait to the nearest point of a grid with that step, 0.5 to 1.5 times the wait away. So a run between two points names the next one or the one after it, where the chain
 * already is or arrives, and never a third; and keys that ran together, after a start, an edit or an outage, are looked
 * at one after the other.
 * @param atLeastSeconds the wait that an API server asks for, which is never undercut
 */
export function endOfLongWait(now: number, seconds: number, key: ReconcileKey, atLeastSeconds = 0): number {
  const grid = gridOf(key, seconds);
  return Math.max(grid.nearest(now + seconds * 1000), grid.from(now + atLeastSeconds * 1000));
}
