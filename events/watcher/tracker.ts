import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';
import { fingerprint } from './fingerprint.ts';
import type { Selection, Subscriber } from './selections.ts';

/**
 * Where changes go; it must not lose any, because what was handed over counts as seen.
 * @param mayWaitMs as in the subscription
 */
export type Emit = (functionName: string, key: ReconcileKey, cause: Cause, mayWaitMs?: number) => void;

/** What is remembered of the objects of one selection: never the objects. */
export interface Tracker {
  /** An object as listed, added or modified. */
  observe(object: KubeObject): void;
  /** An object as it was when it was deleted. */
  remove(object: KubeObject): void;
  /** Begins a list; `complete` then finds what vanished since the last one. */
  beginList(): { complete(resourceVersion: string): void };
  /** Number of remembered objects. */
  size(): number;
  /** The keys that a function has to do with, with repetitions. */
  keys(functionName: string): Iterable<ReconcileKey>;
}

/** One of 50,000: numbers side by side, and keys shared with every object that stands for the same ones. */
interface Entry {
  uid: string;
  /** Number of the list that had it last. */
  list: number;
  /** By subscriber; NaN where the object does not match. */
  fingerprints: number[];
  /** By subscriber. */
  keys: readonly ReconcileKey[][];
}

/** What one subscriber makes of an object. */
interface Mark {
  fingerprint: number;
  keys: ReconcileKey[];
}

const noMark: Mark = { fingerprint: Number.NaN, keys: [] };

/** Stands for all versions that are no news; fingerprints are never negative. */
const NO_NEWS = -1;

/**
 * @param onError an object that a definition cannot deal with; it is left out until it changes
 */
export function createTracker(
  { cluster, resource, subscribers }: Selection,
  emit: Emit,
  onError: (functionName: string, object: KubeObject, error: unknown) => void,
): Tracker {
  const entries = new Map<string, Entry>();
  const share = createSharing(entries);
  let list = 0;

  /** Undefined when the definition fails. */
  const markOf = ({ function: name, subscription }: Subscriber, object: KubeObject): Mark | undefined => {
    try {
      if (subscription.matches?.(object) === false) return noMark;
      const keys = subscription.keys(object, cluster);
      if (subscription.isNews?.(object) === false) return { fingerprint: NO_NEWS, keys };
      return { fingerprint: fingerprint(object, keys, subscription.wakes(object)), keys };
    } catch (error) {
      onError(name, object, error);
      return undefined;
    }
  };

  const causeOf = (text: string, uid: string, resourceVersion: string, deleted?: true): Cause => {
    const [namespace = '', name = ''] = text.split('/');
    const cause = { type: 'object', cluster, kind: resource.kind, name, uid, resourceVersion } as const;
    return { ...cause, ...(namespace !== '' && { namespace }), ...(deleted && { deleted }) };
  };

  const forget = (text: string, entry: Entry, resourceVersion: string) => {
    entries.delete(text);
    const cause = causeOf(text, entry.uid, resourceVersion, true);
    subscribers.forEach((subscriber, index) => {
      for (const key of entry.keys[index] ?? []) emit(subscriber.function, key, cause);
    });
  };

  return {
    observe(object) {
      const text = textOf(object);
      const { uid = '', resourceVersion = '' } = object.metadata;
      const old = entries.get(text);
      const marks = subscribers.map((subscriber, index) => markOf(subscriber, object) ?? markIn(old, index));
      // Where the API server cannot select narrowly, most objects concern nobody.
      if (marks.every((mark) => Number.isNaN(mark.fingerprint))) entries.delete(text);
      else {
        const keys = share(marks.map((mark) => mark.keys));
        entries.set(text, { uid, list, fingerprints: marks.map((mark) => mark.fingerprint), keys });
      }
      marks.forEach((mark, index) => {
        const before = markIn(old, index);
        const subscriber = subscribers[index];
        if (subscriber === undefined || mark.fingerprint === NO_NEWS) return;
        if (Object.is(mark.fingerprint, before.fingerprint)) return;
        const cause = causeOf(text, uid, resourceVersion);
        for (const key of union(before.keys, mark.keys)) {
          emit(subscriber.function, key, cause, subscriber.subscription.mayWaitMs);
        }
      });
    },

    remove(object) {
      const text = textOf(object);
      const entry = entries.get(text);
      if (entry) forget(text, entry, object.metadata.resourceVersion ?? '');
    },

    beginList() {
      const current = ++list;
      return {
        complete(resourceVersion) {
          for (const [text, entry] of entries) if (entry.list !== current) forget(text, entry, resourceVersion);
        },
      };
    },

    size: () => entries.size,

    *keys(functionName) {
      const indexes = subscribers.flatMap((subscriber, index) => (subscriber.function === functionName ? [index] : []));
      if (indexes.length === 0) return;
      for (const { keys } of entries.values()) for (const index of indexes) yield* keys[index] ?? [];
    },
  };
}

function textOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function markIn(entry: Entry | undefined, index: number): Mark {
  const value = entry?.fingerprints[index];
  return value === undefined ? noMark : { fingerprint: value, keys: entry?.keys[index] ?? [] };
}

/** Both the keys that an object stood for and those that it stands for now have to hear of it. */
function union(old: ReconcileKey[], current: ReconcileKey[]): Iterable<ReconcileKey> {
  if (old.length === 0) return current;
  return new Map([...old, ...current].map((key) => [keyText(key), key])).values();
}

/** Equal keys become the same value: the four ManagedResources of a Shoot stand for one Extension, for each function. */
function createSharing(entries: ReadonlyMap<string, unknown>) {
  const known = new Map<string, readonly ReconcileKey[][]>();
  return (keys: readonly ReconcileKey[][]): readonly ReconcileKey[][] => {
    // Of keys that are gone for good nothing must stay; who starts anew only shares less for a while.
    if (known.size > 1000 + 2 * entries.size) known.clear();
    const text = JSON.stringify(keys);
    const shared = known.get(text) ?? keys;
    known.set(text, shared);
    return shared;
  };
}
