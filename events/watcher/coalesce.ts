import { hash } from 'node:crypto';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { originOf } from '../origin.ts';

/** The causes for which one key waits: the latest of each object, and at most one resync. */
export type Causes = Map<string, Cause>;

/**
 * Adds a cause; a later version of an object replaces an earlier one, but stays awaited if that was, and is listed only
 * if both were.
 */
export function addCause(causes: Causes, cause: Cause): void {
  const origin = originOf(cause);
  const earlier = causes.get(origin);
  causes.set(origin, cause.type === 'object' && earlier?.type === 'object' ? flagged(cause, [earlier, cause]) : cause);
}

/**
 * Merges causes into the one that is sent. It must differ from every change sent before the last of them happened, or
 * the queue's five-minute deduplication would drop it: so `also` is a digest of the other causes.
 */
export function coalesced(causes: Causes): Cause | undefined {
  // A resync is no news: beside an object's change it would only make two equal changes different.
  const objects = [...causes.values()].filter((cause) => cause.type === 'object');
  if (objects.length === 0) return causes.values().next().value;
  const sorted = objects.map((cause) => ({ cause, text: identity(cause) })).sort((a, b) => (a.text < b.text ? -1 : 1));
  const [first, ...others] = sorted;
  if (first === undefined || others.length === 0) return first?.cause;
  const also = hash('sha256', others.map(({ text }) => text).join('\n'), 'base64url').slice(0, 12);
  return flagged({ ...first.cause, also }, objects);
}

type ObjectCause = Cause & { type: 'object' };

/** Returns the cause as awaited if one of `all` is, and as listed if all are. */
function flagged({ awaited: _, listed: __, ...cause }: ObjectCause, all: ObjectCause[]): ObjectCause {
  return {
    ...cause,
    ...(all.some(({ awaited }) => awaited === true) && { awaited: true }),
    ...(all.every(({ listed }) => listed === true) && { listed: true }),
  };
}

function identity(cause: ObjectCause): string {
  const { cluster, kind, namespace, name, uid, resourceVersion, deleted } = cause;
  return JSON.stringify([cluster, kind, namespace, name, uid, resourceVersion, deleted]);
}
