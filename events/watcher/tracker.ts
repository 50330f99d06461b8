import { hash } from 'node:crypto';
import { yieldToOthers } from '../../shared/event-loop.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { type Cause, isName } from '../../shared/runtime/change-request.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';
import type { Selection, Subscriber } from './selections.ts';

/**
 * Adds a change to the queue of its function. It must not be lost: the tracker counts it as seen.
 * @param mayWaitMs as in the subscription; default: the debounce time
 */
export type Emit = (functionName: string, key: ReconcileKey, cause: Cause, mayWaitMs?: number) => void;

/** Takes each object of a selection as it is seen, by the text that names it; undefined: it is gone, or no longer matches. */
export type Observer = (text: string, object: KubeObject | undefined) => void;

/** Remembers fingerprints of the objects of one selection, never the objects, and emits a change when one differs. */
export type Tracker = ReturnType<typeof createTracker>;

/** A list, beside which a watch may have begun. */
export type TrackedList = ReturnType<Tracker['beginList']>;

/** There are 50,000 entries, so each is small: an array of numbers, and a list of keys shared with equal ones. */
interface Entry {
  uid: string;
  /** Number of the last list that contained it. */
  list: number;
  /** By subscriber; NaN where the object does not match. */
  fingerprints: number[];
  /** By subscriber. */
  keys: readonly ReconcileKey[][];
}

/** What a subscriber's definition returns for an object. */
interface Mark {
  fingerprint: number;
  keys: ReconcileKey[];
}

interface CauseFlags {
  deleted?: true;
  awaited?: true;
  listed?: true;
}

const noMark: Mark = { fingerprint: Number.NaN, keys: [] };

/** The fingerprint of all versions that are no news; other fingerprints are never negative. */
const NO_NEWS = -1;

/**
 * @param onError called when an object is not valid, or a definition fails for it; it is then skipped until it changes
 */
export function createTracker(
  { cluster, resource, subscribers }: Selection,
  emit: Emit,
  known: KnownKeys,
  onError: (functionName: string, object: unknown, error: unknown) => void,
  observer?: Observer,
) {
  const entries = new Map<string, Entry>();
  const share = createSharing(entries);
  let list = 0;
  /** Objects that a watch has brought during the list under way. */
  let watched: Set<string> | undefined;

  /** Undefined when a definition fails. */
  const tried = <T>(name: string, object: KubeObject | undefined, run: () => T): T | undefined => {
    try {
      return run();
    } catch (error) {
      onError(name, object, error);
      return undefined;
    }
  };

  const markOf = ({ function: name, subscription }: Subscriber, object: KubeObject): Mark | undefined =>
    tried(name, object, () => {
      if (subscription.matches?.(object) === false) return noMark;
      const keys = subscription.keys(object, cluster);
      if (!keys.every((key) => [key.cluster, key.namespace, key.name].every(isName)))
        throw new TypeError('the key of the object is not valid');
      if (subscription.isNews?.(object) === false) return { fingerprint: NO_NEWS, keys };
      return { fingerprint: fingerprint(object, keys, subscription.wakes(object)), keys };
    });

  const causeFor = (text: string, uid: string, resourceVersion: string, flags: CauseFlags = {}): Cause => {
    const [namespace = '', name = ''] = text.split('/');
    const cause = { type: 'object', cluster, kind: resource.kind, name, uid, resourceVersion } as const;
    return { ...cause, ...(namespace !== '' && { namespace }), ...flags };
  };

  /** A definition that fails here delays a change, and loses none. */
  const isAwaited = ({ function: name, subscription }: Subscriber, object: KubeObject): boolean =>
    tried(name, object, () => subscription.isAwaited?.(object)) === true;

  const wake = ({ function: name, subscription }: Subscriber, key: ReconcileKey, cause: Cause, mayWaitMs?: number) => {
    if (subscription.onlyKnownKeys !== true || known.has(name, key)) emit(name, key, cause, mayWaitMs);
  };

  /** Numbers about objects are not worth a change that is lost. */
  const show = (text: string, object: KubeObject | undefined) =>
    tried('metrics', object, () => observer?.(text, object));

  /** Remembers an object, or nothing, in place of a former version. */
  const remember = (text: string, former: Entry | undefined, entry: Entry | undefined) => {
    if (entry === undefined) entries.delete(text);
    else entries.set(text, entry);
    subscribers.forEach(({ function: name, subscription }, index) => {
      if (subscription.onlyKnownKeys === true) return;
      known.replace(name, former?.keys[index] ?? noMark.keys, entry?.keys[index] ?? noMark.keys);
    });
  };

  const forget = (text: string, entry: Entry, resourceVersion: string, listed?: CauseFlags) => {
    remember(text, entry, undefined);
    show(text, undefined);
    const cause = causeFor(text, entry.uid, resourceVersion, { deleted: true, ...listed });
    subscribers.forEach((subscriber, index) => {
      for (const key of entry.keys[index] ?? []) wake(subscriber, key, cause);
    });
  };

  /** An API server sends no other objects; a broken one, or a proxy, must not stop the watcher. */
  const isSkipped = (object: KubeObject): boolean => {
    if (isValid(object)) return false;
    onError('watcher', object, new TypeError('the object has no valid metadata'));
    return true;
  };

  const take = (text: string, object: KubeObject, listed?: CauseFlags) => {
    const { uid = '', resourceVersion = '' } = object.metadata;
    const old = entries.get(text);
    const marks = subscribers.map((subscriber, index) => markOf(subscriber, object) ?? markIn(old, index));
    // Where the API server cannot select narrowly, most objects match no subscriber.
    const matches = !marks.every((mark) => Number.isNaN(mark.fingerprint));
    const fingerprints = marks.map((mark) => mark.fingerprint);
    const entry = matches ? { uid, list, fingerprints, keys: share(marks.map((mark) => mark.keys)) } : undefined;
    remember(text, old, entry);
    if (entry !== undefined || old !== undefined) show(text, entry && object);
    marks.forEach((mark, index) => {
      const before = markIn(old, index);
      const subscriber = subscribers[index];
      if (subscriber === undefined || mark.fingerprint === NO_NEWS) return;
      if (Object.is(mark.fingerprint, before.fingerprint)) return;
      const awaited = isAwaited(subscriber, object) ? ({ awaited: true } as const) : {};
      const cause = causeFor(text, uid, resourceVersion, { ...awaited, ...listed });
      for (const key of union(before.keys, mark.keys)) wake(subscriber, key, cause, subscriber.subscription.mayWaitMs);
    });
  };

  return {
    /** Takes an object as added or modified. */
    observe(object: KubeObject): void {
      if (isSkipped(object)) return;
      const text = textOf(object);
      watched?.add(text);
      take(text, object);
    },

    /** Takes the last version of a deleted object. */
    remove(object: KubeObject): void {
      if (isSkipped(object)) return;
      const text = textOf(object);
      watched?.add(text);
      const entry = entries.get(text);
      if (entry) forget(text, entry, object.metadata.resourceVersion ?? '');
    },

    /** Begins a list, and abandons one under way. */
    beginList() {
      const current = ++list;
      const later = new Set<string>();
      watched = later;
      return {
        /** Takes an object as listed, unless the watch has already brought a later version. */
        observe(object: KubeObject): void {
          if (current !== list || isSkipped(object)) return;
          const text = textOf(object);
          if (!later.has(text)) take(text, object, { listed: true });
        },
        /** Finds the objects that have vanished since the last list, in turns with others: they may be thousands. */
        async complete(resourceVersion: string): Promise<void> {
          for (const [text, entry] of entries) {
            if (current !== list) return;
            if (entry.list === current) continue;
            forget(text, entry, resourceVersion, { listed: true });
            await yieldToOthers();
          }
          if (current === list) watched = undefined;
        },
      };
    },

    /** Returns the number of remembered objects. */
    size: () => entries.size,

    /** Returns the keys of a function, with repetitions; without those of subscriptions with `onlyKnownKeys`. */
    *keys(functionName: string): Iterable<ReconcileKey> {
      const indexes = subscribers.flatMap(({ function: name, subscription }, index) =>
        name === functionName && subscription.onlyKnownKeys !== true ? [index] : [],
      );
      if (indexes.length === 0) return;
      // Objects with the same keys share them: 40,000 ManagedResources have those of 10,000 Extensions.
      const seen = new Set<readonly ReconcileKey[]>();
      for (const { keys } of entries.values()) {
        for (const index of indexes) {
          const ofObject = keys[index];
          if (ofObject === undefined || seen.has(ofObject)) continue;
          seen.add(ofObject);
          yield* ofObject;
        }
      }
    },
  };
}

/** True if a change can name the object. */
function isValid(object: KubeObject): boolean {
  const metadata: unknown = object?.metadata;
  if (typeof metadata !== 'object' || metadata === null) return false;
  const { name, namespace, uid, resourceVersion } = metadata as Record<string, unknown>;
  return (namespace === undefined || isName(namespace)) && [name, uid, resourceVersion].every(isName);
}

/**
 * Returns 48 bits that differ when the object was recreated, its deletion began, its keys changed, or a field changed
 * that wakes the function. A number: a text of the same length takes four times the memory.
 */
function fingerprint(object: KubeObject, keys: ReconcileKey[], wakes: unknown): number {
  const { uid, deletionTimestamp } = object.metadata;
  const text = JSON.stringify([uid, deletionTimestamp !== undefined, keys, wakes]);
  return Number.parseInt(hash('sha1', text, 'hex').slice(0, 12), 16);
}

/** Returns the same text for all versions of an object, and of its successors with the same name. */
export function textOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function markIn(entry: Entry | undefined, index: number): Mark {
  const value = entry?.fingerprints[index];
  return value === undefined ? noMark : { fingerprint: value, keys: entry?.keys[index] ?? [] };
}

/** A change concerns the object's former keys and its present ones. */
function union(old: ReconcileKey[], current: ReconcileKey[]): Iterable<ReconcileKey> {
  if (old.length === 0) return current;
  return new Map([...old, ...current].map((key) => [keyText(key), key])).values();
}

/** Replaces equal keys by one value: the four ManagedResources of a Shoot have the key of one Extension. */
function createSharing(entries: ReadonlyMap<string, unknown>) {
  const known = new Map<string, readonly ReconcileKey[][]>();
  return (keys: readonly ReconcileKey[][]): readonly ReconcileKey[][] => {
    // Drops the keys of deleted objects. After this, live objects share fewer keys for a while.
    if (known.size > 1000 + 2 * entries.size) known.clear();
    // Short, because it is kept: 10,000 Shoots have three of them each.
    const text = keys.map((ofSubscriber) => ofSubscriber.map(keyText).join(' ')).join('\n');
    const shared = known.get(text) ?? keys;
    known.set(text, shared);
    return shared;
  };
}

/** Which keys a function has objects for, apart from those of its subscriptions with `onlyKnownKeys`. */
export type KnownKeys = ReturnType<typeof createKnownKeys>;

/** Creates the known keys of all functions with such a subscription; the others are not counted. */
export function createKnownKeys(definitions: readonly FunctionDefinition[]) {
  const counts = new Map<string, Map<string, number>>();
  for (const { name, subscriptions } of definitions) {
    if (subscriptions.some(({ onlyKnownKeys }) => onlyKnownKeys === true)) counts.set(name, new Map());
  }
  return {
    /** Counts one object with these keys instead of the former ones. */
    replace(functionName: string, former: readonly ReconcileKey[], keys: readonly ReconcileKey[]): void {
      const known = counts.get(functionName);
      if (known === undefined || former === keys) return;
      for (const key of keys) {
        const text = keyText(key);
        known.set(text, (known.get(text) ?? 0) + 1);
      }
      for (const key of former) {
        const text = keyText(key);
        const left = (known.get(text) ?? 0) - 1;
        if (left > 0) known.set(text, left);
        else known.delete(text);
      }
    },
    has: (functionName: string, key: ReconcileKey): boolean => counts.get(functionName)?.has(keyText(key)) === true,
  };
}
