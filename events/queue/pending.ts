import type { Cause } from '../../shared/runtime/change-request.ts';
import { ATTEMPTS_WHILE_PARKED } from '../retry.ts';

/** Returns what a cause is about: its object, or for all others their type. */
export function originOf(cause: Cause): string {
  return cause.type === 'object'
    ? JSON.stringify([cause.cluster, cause.kind, cause.namespace, cause.name])
    : cause.type;
}

/** How urgent changes can be, from the most to the least urgent. */
export const priorities = ['awaited', 'live', 'background'] as const;

export type Priority = (typeof priorities)[number];

/** Resyncs and what a list has found come by the thousands, and gardenlet and users wait for none of them. */
export function priorityOf(cause: Cause): Priority {
  if (cause.type === 'resync') return 'background';
  if (cause.type === 'object' && cause.awaited === true) return 'awaited';
  return 'listed' in cause && cause.listed === true ? 'background' : 'live';
}

/** Returns the more urgent one. */
function moreUrgent(one: Priority, other: Priority): Priority {
  return priorities.indexOf(one) <= priorities.indexOf(other) ? one : other;
}

/** The next run of a key: why, how urgent, and since when. */
export interface Pending {
  /** The newest causes, and those that say where a pass continues; a key has as many as its objects change. */
  causes: Cause[];
  /** How many changes this run answers besides the first. */
  merged: number;
  priority: Priority;
  /** True if only the resync asks for this run, which no change has caused. */
  isResync: boolean;
  /** When the first of them is or was due, in ms of the monotonic clock: the run may start from then on. */
  since: number;
  /** How often the run has failed already. */
  attempts: number;
}

/** Logs show ten causes of a run. */
const MOST_CAUSES = 20;

/** The resync adds no look to one that is due this soon. */
const RESYNC_PATIENCE_MS = 900_000;

/** Nothing urgent is looked at so late: a later look is part of the background. */
const URGENT_MS = 60_000;

/** Returns what one more cause asks for. */
export function pendingOf(cause: Cause, since: number): Pending {
  const isResync = cause.type === 'resync';
  return { causes: [cause], merged: 0, priority: priorityOf(cause), isResync, since, attempts: 0 };
}

/** Returns one run that answers both; the caller decides on attempts, and when it is due. */
export function merged(older: Pending, newer: Pending): Pending {
  return {
    causes: kept([...older.causes, ...newer.causes]),
    merged: older.merged + newer.merged + 1,
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

/** Returns whether what arrived can wait for the pending look, which is due in so many ms. */
export function joins(added: Pending, pending: Pending, inMs: number): boolean {
  if (isFresh(added)) return false;
  // A key that fails is looked at ever more rarely, whatever is listed or resynced meanwhile.
  return pending.attempts > 0 || (added.isResync && inMs <= RESYNC_PATIENCE_MS);
}

/** Returns whether a look replaces the pending one: the latest run of a key decides when it runs again. */
export function replaces(added: Pending, pending: Pending): boolean {
  return [...added.causes, ...pending.causes].every(({ type }) => type === 'notBefore');
}

/** Returns whether another process has failed with a cause, and sends it again later. */
export function isRetry(cause: Cause): boolean {
  return 'attempt' in cause && (cause.attempt ?? 0) > 0;
}

/** Returns the retry of a run, which answers the same causes. A cluster that is down does not use up the attempts. */
export function retryOf(ran: Pending, at: number, isDown: boolean): Pending {
  const attempts = isDown && ran.attempts >= ATTEMPTS_WHILE_PARKED ? ran.attempts : ran.attempts + 1;
  return { ...ran, merged: 0, since: at, attempts };
}

/** What has failed only because a cluster was down starts afresh when it answers again. */
export function afresh(pending: Pending, now: number): Pending {
  return { ...pending, attempts: 0, since: now };
}

/** Returns the look that a run asks for, due at `at`. */
export function lookOf({ priority }: Pending, at: number, now: number): Pending {
  const cause: Cause = { type: 'notBefore', notBefore: new Date(Date.now() + at - now).toISOString() };
  return { ...pendingOf(cause, at), priority };
}

/** What follows a run is as urgent as the run, because gardenlet may wait for it, unless it is far away. */
export function laterPriority(priority: Priority, seconds: number): Priority {
  return seconds * 1000 > URGENT_MS ? 'background' : priority;
}

/** Returns the most important causes, in order. */
function kept(causes: Cause[]): Cause[] {
  const surplus = causes.length - MOST_CAUSES;
  if (surplus <= 0) return causes;
  const newest = new Set(new Map(causes.map((cause) => [originOf(cause), cause])).values());
  const dropped = new Set(causes.toSorted((a, b) => weight(a, newest) - weight(b, newest)).slice(0, surplus));
  return causes.filter((cause) => !dropped.has(cause));
}

/**
 * A `continue` is never dropped: without it the function would not know where its pass continues. Before the newest of
 * an object go all others: without the one edit, a function would take the rest for news of what it has applied itself.
 */
function weight(cause: Cause, newest: ReadonlySet<Cause>): number {
  if (cause.type === 'continue') return 2;
  return newest.has(cause) ? 1 : 0;
}
