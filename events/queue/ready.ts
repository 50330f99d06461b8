import { type Priority, priorities } from './pending.ts';
import type { Slots, Tenant } from './slots.ts';

/** A key that may run. */
export interface ReadyKey {
  tenant: Tenant;
  /** Undefined when the key is not ready, or no longer. */
  readyAs: Priority | undefined;
}

/** The keys that are due, by priority; within one, clusters take turns, and within a cluster its projects. */
export class Ready<T extends ReadyKey> {
  /** By priority, cluster and project: the one whose turn is next comes first. */
  readonly #keys: Record<Priority, Map<string, Map<string, Fifo<T>>>> = {
    awaited: new Map(),
    live: new Map(),
    background: new Map(),
  };
  readonly #perCluster = new Map<string, number>();
  #starts = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns how many keys of each cluster are due. */
  sizes(): [cluster: string, size: number][] {
    return [...this.#perCluster];
  }

  /** Adds a key, or moves one to another priority. */
  add(key: T, priority: Priority): void {
    const { cluster, project } = key.tenant;
    if (key.readyAs === priority) return;
    if (key.readyAs === undefined) this.#count(cluster, 1);
    key.readyAs = priority;
    const projects = getOr(this.#keys[priority], cluster, () => new Map<string, Fifo<T>>());
    getOr(projects, project, () => new Fifo<T>()).push(key);
  }

  /** Takes the key that runs next, and passes the turn on. @param isBackgroundHeld true to leave the background */
  take(slots: Slots, isUp: (cluster: string) => boolean, isBackgroundHeld = false): T | undefined {
    const order = orders[this.#starts % orders.length] ?? priorities;
    for (const priority of order) {
      if (isBackgroundHeld && priority === 'background') continue;
      const key = this.#takeFrom(priority, slots, isUp);
      if (key === undefined) continue;
      this.#starts++;
      this.#count(key.tenant.cluster, -1);
      key.readyAs = undefined;
      return key;
    }
    return undefined;
  }

  #takeFrom(priority: Priority, slots: Slots, isUp: (cluster: string) => boolean): T | undefined {
    const clusters = this.#keys[priority];
    for (const [cluster, projects] of clusters) {
      if (slots.roomFor(cluster) <= 0 || !isUp(cluster)) continue;
      const key = takeInTurn(projects, (project) => slots.has({ cluster, project }), priority);
      if (key !== undefined || projects.size === 0) clusters.delete(cluster);
      if (key === undefined) continue;
      if (projects.size > 0) clusters.set(cluster, projects);
      return key;
    }
    return undefined;
  }

  #count(cluster: string, by: 1 | -1): void {
    this.#size += by;
    const size = (this.#perCluster.get(cluster) ?? 0) + by;
    if (size === 0) this.#perCluster.delete(cluster);
    else this.#perCluster.set(cluster, size);
  }
}

/** One start in eight prefers live changes, and one the background, so that neither waits for ever. */
const orders: (readonly Priority[])[] = [
  ...[priorities, priorities, priorities, ['live', 'awaited', 'background'] as const],
  ...[priorities, priorities, priorities, ['background', 'live', 'awaited'] as const],
];

function takeInTurn<T extends ReadyKey>(
  projects: Map<string, Fifo<T>>,
  mayStart: (project: string) => boolean,
  priority: Priority,
): T | undefined {
  for (const [project, fifo] of projects) {
    if (!mayStart(project)) continue;
    // A key that has changed its priority, or has run meanwhile, is still in the former list.
    const key = fifo.take((candidate) => candidate.readyAs === priority);
    projects.delete(project);
    if (key === undefined) continue;
    if (!fifo.isEmpty) projects.set(project, fifo);
    return key;
  }
  return undefined;
}

/** First in, first out, in constant time: an array that is cut only when half of it is used up. */
class Fifo<T> {
  #items: (T | undefined)[] = [];
  #next = 0;

  get isEmpty(): boolean {
    return this.#next === this.#items.length;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Takes the first that counts, and drops those before it. */
  take(counts: (item: T) => boolean): T | undefined {
    while (!this.isEmpty) {
      const item = this.#items[this.#next];
      this.#items[this.#next++] = undefined;
      if (this.#next > 64 && this.#next * 2 > this.#items.length) {
        this.#items = this.#items.slice(this.#next);
        this.#next = 0;
      }
      if (item !== undefined && counts(item)) return item;
    }
    return undefined;
  }
}

function getOr<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
