import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';
import { fingerprint } from './fingerprint.ts';
import type { Selection, Subscriber } from './selections.ts';

/** Where changes go; it must not lose any, because what was handed over counts as seen. */
export type Emit = (functionName: string, key: ReconcileKey, cause: Cause) => void;

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

/** What one subscriber knows of an object. */
interface Mark {
  fingerprint: string;
  keys: ReconcileKey[];
}

interface Entry {
  uid: string;
  /** Number of the list that had it last. */
  list: number;
  /** By subscriber; undefined where the object does not match. */
  marks: (Mark | undefined)[];
}

/**
 * @param onError an object that a definition cannot deal with; it is left out until it changes
 */
export function createTracker(
  { cluster, resource, subscribers }: Selection,
  emit: Emit,
  onError: (functionName: string, object: KubeObject, error: unknown) => void,
): Tracker {
  const entries = new Map<string, Entry>();
  let list = 0;

  const markOf = ({ subscription }: Subscriber, object: KubeObject): Mark | undefined => {
    if (subscription.matches?.(object) === false) return undefined;
    const keys = subscription.keys(object, cluster);
    return { fingerprint: fingerprint(object, keys, subscription.wakes(object)), keys };
  };

  const causeOf = (text: string, uid: string, resourceVersion: string, deleted?: true): Cause => {
    const [namespace = '', name = ''] = text.split('/');
    const cause = { type: 'object', cluster, kind: resource.kind, name, uid, resourceVersion } as const;
    return { ...cause, ...(namespace !== '' && { namespace }), ...(deleted && { deleted }) };
  };

  const forget = (text: string, entry: Entry, resourceVersion: string) => {
    entries.delete(text);
    const cause = causeOf(text, entry.uid, resourceVersion, true);
    entry.marks.forEach((mark, index) => {
      const subscriber = subscribers[index];
      if (subscriber) for (const key of mark?.keys ?? []) emit(subscriber.function, key, cause);
    });
  };

  return {
    observe(object) {
      const text = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
      const uid = object.metadata.uid ?? '';
      const entry = entries.get(text) ?? { uid, list, marks: [] };
      entries.set(text, entry);
      entry.uid = uid;
      entry.list = list;
      subscribers.forEach((subscriber, index) => {
        try {
          const mark = markOf(subscriber, object);
          const old = entry.marks[index];
          entry.marks[index] = mark;
          if (mark?.fingerprint === old?.fingerprint) return;
          const cause = causeOf(text, uid, object.metadata.resourceVersion ?? '');
          for (const key of union(old?.keys ?? [], mark?.keys ?? [])) emit(subscriber.function, key, cause);
        } catch (error) {
          onError(subscriber.function, object, error);
        }
      });
      // Where the API server cannot select narrowly, most objects concern nobody.
      if (entry.marks.every((mark) => mark === undefined)) entries.delete(text);
    },

    remove(object) {
      const text = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
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
      for (const { marks } of entries.values()) for (const index of indexes) yield* marks[index]?.keys ?? [];
    },
  };
}

/** Both the keys that an object stood for and those that it stands for now have to hear of it. */
function union(old: ReconcileKey[], current: ReconcileKey[]): Iterable<ReconcileKey> {
  if (old.length === 0) return current;
  return new Map([...old, ...current].map((key) => [keyText(key), key])).values();
}
