import type { ApiObject } from './json.ts';
import { now } from './time.ts';

/** One change of one object. */
export interface StoreEvent {
  revision: number;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  key: string;
  /** The object after the change; for DELETED its last state, with the revision of the deletion. */
  object: ApiObject;
  previous: ApiObject | undefined;
}

/** Number of events per resource: how far back a watch or a paged list can begin. */
const historyLimit = 20_000;

/** The revision counter of all resources of one API server, as in etcd. */
export class Clock {
  revision = 1;
}

/**
 * The objects of one resource with their recent history. Objects are immutable; keys are `namespace/name` or `name`,
 * in the order in which lists show them.
 */
export class ResourceStore {
  readonly #clock: Clock;
  #objects = new Map<string, ApiObject>();
  /** Sorted, so that lists can be paged. */
  #keys: string[] = [];
  /** What a checkpoint has copied; undefined after a change. */
  #saved: { objects: Map<string, ApiObject>; keys: string[] } | undefined;
  #history: StoreEvent[] = [];
  readonly #subscribers = new Set<(event: StoreEvent) => void>();
  /** History up to this revision is forgotten. */
  #compacted = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#compacted = clock.revision;
  }

  get revision(): number {
    return this.#clock.revision;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): ApiObject | undefined {
    return this.#objects.get(key);
  }

  /** Returns all objects, unordered. */
  values(): Iterable<ApiObject> {
    return this.#objects.values();
  }

  /** Stores the object under a new resourceVersion and notifies the watches. */
  put(key: string, object: ApiObject): ApiObject {
    const previous = this.#objects.get(key);
    const revision = ++this.#clock.revision;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
    this.#objects.set(key, stored);
    if (previous === undefined) this.#keys.splice(this.#position(key), 0, key);
    this.#publish({ revision, type: previous === undefined ? 'ADDED' : 'MODIFIED', key, object: stored, previous });
    return stored;
  }

  /** Deletes the object; `last` is its final state when the deletion also changed it. */
  remove(key: string, last?: ApiObject): ApiObject | undefined {
    const previous = this.#objects.get(key);
    if (previous === undefined) return undefined;
    const revision = ++this.#clock.revision;
    this.#objects.delete(key);
    this.#keys.splice(this.#position(key), 1);
    const final = last ?? previous;
    const object = { ...final, metadata: { ...final.metadata, resourceVersion: String(revision) } };
    this.#publish({ revision, type: 'DELETED', key, object, previous });
    return object;
  }

  /** Deletes the object at once, or marks it as being deleted while it has finalizers. @returns whether it is gone */
  dismiss(key: string, { metadata, ...object }: ApiObject): boolean {
    if ((metadata.finalizers ?? []).length === 0) {
      this.remove(key);
      return true;
    }
    if (metadata.deletionTimestamp === undefined) {
      const marks = { deletionTimestamp: now(), deletionGracePeriodSeconds: 0 };
      this.put(key, { ...object, metadata: { ...metadata, ...marks } } as ApiObject);
    }
    return false;
  }

  /** Yields objects whose key has the prefix, as of the revision, after a key. */
  *range(prefix: string, after: string, revision: number): Generator<[key: string, object: ApiObject]> {
    const past = this.#changesSince(revision);
    const keys = past.size === 0 ? this.#keys : this.#keysWith(past);
    const first = after > prefix ? after : prefix;
    for (let index = firstNot(keys, (key) => key < first); index < keys.length; index++) {
      const key = keys[index];
      if (key === undefined || !key.startsWith(prefix)) return;
      if (key === after) continue;
      const object = past.has(key) ? past.get(key) : this.#objects.get(key);
      if (object !== undefined) yield [key, object];
    }
  }

  /** Returns whether history reaches back to the revision. */
  remembers(revision: number): boolean {
    return revision >= this.#compacted;
  }

  /** Returns the events after the revision. */
  since(revision: number): StoreEvent[] {
    return this.#history.slice(firstNot(this.#history, (event) => event.revision <= revision));
  }

  subscribe(subscriber: (event: StoreEvent) => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /**
   * Remembers all objects.
   * @returns a function that restores them without notifying watches, and forgets history
   */
  checkpoint(): () => void {
    this.#saved ??= { objects: new Map(this.#objects), keys: [...this.#keys] };
    const saved = this.#saved;
    return () => {
      if (this.#saved !== saved) {
        this.#objects = new Map(saved.objects);
        this.#keys = [...saved.keys];
        this.#saved = saved;
      }
      this.compact();
    };
  }

  /** Forgets history: older watches and continue tokens are answered with 410. */
  compact(): void {
    this.#history = [];
    this.#compacted = this.#clock.revision;
  }

  #publish(event: StoreEvent): void {
    this.#saved = undefined;
    this.#history.push(event);
    if (this.#history.length > historyLimit * 1.1) {
      const dropped = this.#history.length - historyLimit;
      this.#compacted = this.#history[dropped - 1]?.revision ?? this.#compacted;
      this.#history = this.#history.slice(dropped);
    }
    for (const subscriber of [...this.#subscribers]) subscriber(event);
  }

  #position(key: string): number {
    return firstNot(this.#keys, (known) => known < key);
  }

  /** Returns earlier states of the objects that changed after the revision; undefined: they did not exist. */
  #changesSince(revision: number): Map<string, ApiObject | undefined> {
    const past = new Map<string, ApiObject | undefined>();
    if (revision >= this.#clock.revision) return past;
    for (const event of this.since(revision)) if (!past.has(event.key)) past.set(event.key, event.previous);
    return past;
  }

  #keysWith(past: Map<string, ApiObject | undefined>): string[] {
    const gone = [...past].filter(([key, object]) => object !== undefined && !this.#objects.has(key));
    return gone.length === 0 ? this.#keys : [...this.#keys, ...gone.map(([key]) => key)].sort();
  }
}

/** Returns the index of the first item that is not before the one sought; the items are sorted. */
function firstNot<T>(items: readonly T[], isBefore: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(items[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
