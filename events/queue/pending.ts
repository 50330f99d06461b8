import type { Cause } from '../../shared/runtime/change-request.ts';
import { type Priority, priorities, priorityOf } from '../priority.ts';

/** The next run of a key: why, how urgent, and since when. */
export interface Pending {
  /** The newest causes; a key has as many as its objects change, so the others are only counted. */
  causes: Cause[];
  /** How many causes were not kept. */
  more: number;
  priority: Priority;
  /** True if only the resync asks for this run, which no change has caused. */
  isResync: boolean;
  /** When the first of them was due, in ms of the monotonic clock. */
  since: number;
  /** How often the run has failed already. */
  attempts: number;
}

/** Logs show ten causes of a run. */
const MOST_CAUSES = 20;

/** Returns what one more cause asks for. */
export function pendingOf(cause: Cause, since: number, attempts = 0): Pending {
  const isResync = cause.type === 'resync';
  return { causes: [cause], more: 0, priority: priorityOf(cause), isResync, since, attempts };
}

/** Returns one run that answers both; the caller decides on attempts, and when it is due. */
export function merged(older: Pending, newer: Pending): Pending {
  const causes = [...older.causes, ...newer.causes];
  const dropped = Math.max(0, causes.length - MOST_CAUSES);
  return {
    causes: causes.slice(dropped),
    more: older.more + newer.more + dropped,
    priority: moreUrgent(older.priority, newer.priority),
    isResync: older.isResync && newer.isResync,
    since: Math.min(older.since, newer.since),
    attempts: older.attempts,
  };
}

/** Returns true if gardenlet, a user or a live event asks for the run: it then starts at once, and afresh. */
export function isFresh({ priority }: Pending): boolean {
  return priority !== 'background';
}

function moreUrgent(a: Priority, b: Priority): Priority {
  return priorities.indexOf(a) <= priorities.indexOf(b) ? a : b;
}
