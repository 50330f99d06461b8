import * as z from 'zod/mini';
import type { ReconcileKey } from './key.ts';

/** Kubernetes names have no `/`, on which the text of a key relies, and are ASCII: some transports reject other characters. */
const namePattern = /^[!-.0-~]{1,253}$/;

/** True for what a change can carry as a name, a uid or a version. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && namePattern.test(value);
}

/** A name, a uid, a version or a digest in a change. */
export const nameSchema = z.string().check(z.regex(namePattern));
const name = nameSchema;
const flag = z.optional(z.boolean());
const count = z.int().check(z.nonnegative());
const time = z.iso.datetime();

/** Why a reconcile key may need attention. It never carries an object, so no Secret can leak through a queue. */
export const causeSchemas = [
  z.object({
    /** A watched object changed; `deleted` distinguishes its deletion from its last version. */
    type: z.literal('object'),
    ...{ cluster: name, kind: name, namespace: z.optional(name), name, uid: name, resourceVersion: name },
    deleted: flag,
    /** A digest of merged changes of other objects: part of the deduplication id, or the queue could drop them. */
    also: z.optional(name),
    /** gardenlet or a user waits for what the object asks for. Like `listed`, it only decides what goes first. */
    awaited: flag,
    /** Found by a list, which may find thousands at once, not by a watch. */
    listed: flag,
  }),
  z.object({
    /** A function asked to run again at this time (RFC 3339, UTC). */
    type: z.literal('notBefore'),
    notBefore: time,
    attempt: z.optional(count),
  }),
  z.object({
    /**
     * A function that works through a long list sent itself the rest of it: everything after the name `after`, from the
     * API server's `token`, or from the start when that has expired.
     */
    type: z.literal('continue'),
    after: z.string().check(z.regex(/^[^/\s]{0,253}$/)),
    // A page token of an API server holds the key of an object, some hundred characters.
    token: z.optional(z.string().check(z.regex(/^\S{1,4096}$/))),
    /** Counts the runs of one pass. */
    hop: count,
    /** A digest of what the pass reports. */
    state: name,
    /** Asks for another pass: something changed meanwhile. */
    again: flag,
    listed: flag,
    notBefore: z.optional(time),
    attempt: z.optional(count),
  }),
  /** The hourly trickle of all keys; `epoch` counts resync periods. */
  z.object({ type: z.literal('resync'), epoch: count }),
  /** An operator moved the change back from a dead-letter queue. */
  z.object({ type: z.literal('redrive'), nonce: name }),
] as const;

export type Cause = z.infer<(typeof causeSchemas)[number]>;

/** A change to be sent: this key of this function may need attention, because of that cause. */
export interface ChangeRequest {
  function: string;
  key: ReconcileKey;
  cause: Cause;
}
