import { type Priority, priorities } from './pending.ts';
import type { Slots, Tenant } from './slots.ts';

/** A key that may run. */
export interface ReadyKey {
  tenant: Tenant;
  /** Undefined when the key is not ready, or no longer. */
  readyAs: Priority | undefined;
}

/** The keys that are due, first in, first out, by priority; within one, clusters take turns, and within a cluster its projects. */
export class Ready<T extends ReadyKey> {
  /** By priority, cluster and project: the one whose turn is next comes first. */
  readonly #keys: Record<Priority, Map<string, Map<string, Set<T>>>> = {
    awaited: new Map(),
    live: new Map(),
    background: new Map(),
  };
  #starts = 0;

  /** Returns how many keys are due in clusters that are up, and in others. */
  depth(isUp: (cluster: string) => boolean): { waiting: number; parked: number } {
    const depth = { waiting: 0, parked: 0 };
    for (const clusters of Object.values(this.#keys)) {
      for (const [cluster, projects] of clusters) {
        const state = isUp(cluster) ? 'waiting' : 'parked';
        for (const { size } of projects.values()) depth[state] += size;
      }
    }
    return depth;
  }

  /** Adds a key, or moves one to another priority. */
  add(key: T, priority: Priority): void {
    const { cluster, project } = key.tenant;
    if (key.readyAs === priority) return;
    if (key.readyAs !== undefined) this.#keys[key.readyAs].get(cluster)?.get(project)?.delete(key);
    key.readyAs = priority;
    const projects = getOr(this.#keys[priority], cluster, () => new Map<string, Set<T>>());
    getOr(projects, project, () => new Set<T>()).add(key);
  }

  /** Takes the key that runs next, and passes the turn on. @param isBackgroundHeld true to leave the background */
  take(slots: Slots, isUp: (cluster: string) => boolean, isBackgroundHeld = false): T | undefined {
    const order = orders[this.#starts % orders.length] ?? priorities;
    for (const priority of order) {
      if (isBackgroundHeld && priority === 'background') continue;
      const key = this.#takeFrom(priority, slots, isUp);
      if (key === undefined) continue;
      this.#starts++;
      key.readyAs = undefined;
      return key;
    }
    return undefined;
  }

  #takeFrom(priority: Priority, slots: Slots, isUp: (cluster: string) => boolean): T | undefined {
    const clusters = this.#keys[priority];
    for (const [cluster, projects] of clusters) {
      if (slots.roomFor(cluster) <= 0 || !isUp(cluster)) continue;
      const key = takeInTurn(projects, (project) => slots.has({ cluster, project }));
      if (key !== undefined || projects.size === 0) clusters.delete(cluster);
      if (key === undefined) continue;
      if (projects.size > 0) clusters.set(cluster, projects);
      return key;
    }
    return undefined;
  }
}

/** One start in eight prefers live changes, and one the background, so that neither waits for ever. */
const orders: (readonly Priority[])[] = [
  ...[priorities, priorities, priorities, ['live', 'awaited', 'background'] as const],
  ...[priorities, priorities, priorities, ['background', 'live', 'awaited'] as const],
];

function takeInTurn<T>(projects: Map<string, Set<T>>, mayStart: (project: string) => boolean): T | undefined {
  for (const [project, keys] of projects) {
    if (!mayStart(project)) continue;
    const [key] = keys;
    projects.delete(project);
    // Its last key has changed its priority.
    if (key === undefined) continue;
    keys.delete(key);
    if (keys.size > 0) projects.set(project, keys);
    return key;
  }
  return undefined;
}

function getOr<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
