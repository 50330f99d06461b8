import type { Cause } from '../../shared/runtime/change-request.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';
import { moreUrgent, type Priority, priorities, priorityOf } from '../priority.ts';
import { addCause, type Causes } from './coalesce.ts';

/** A key that waits to be sent, with its causes. */
export interface Waiting {
  key: ReconcileKey;
  causes: Causes;
  priority: Priority;
  /** Number of the first `add` of this key. */
  since: number;
  /** When it is due, in ms. */
  due: number;
  /** How often it failed although nothing else did. */
  failures: number;
}

/** What may be taken now. */
export interface Limits {
  most: number;
  mostBackground: number;
  /** True for clusters whose background changes stay. */
  isHeld(cluster: string): boolean;
}

/** Waiting keys, ordered: urgent ones first, and among equally urgent ones each cluster in turn. */
export interface Lanes {
  /** Adds a cause to a key; `since` and `due` count if it did not wait yet, and `due` if it is sooner. */
  add(text: string, key: ReconcileKey, cause: Cause, since: number, due: number): Waiting;
  /** Puts back what was taken, before or after the rest of its lane. Causes that were added meanwhile count as later. */
  putBack(taken: readonly [string, Waiting][], where: 'first' | 'last'): void;
  /** Removes and returns keys that are due at this time. */
  take(now: number, limits: Limits): [string, Waiting][];
  /** Returns when the next key is due; infinity if none waits. Without background keys of held clusters. */
  nextDue(isHeld: Limits['isHeld'], priority?: 'urgent' | 'background'): number;
  values(): Iterable<Waiting>;
  size(): number;
}

/** The waiting keys of one priority and cluster. */
interface Lane {
  cluster: string;
  entries: Map<string, Waiting>;
  /** No key in it is due sooner. */
  earliest: number;
}

export function createLanes(): Lanes {
  const lanes = new Map<Priority, Map<string, Lane>>(priorities.map((priority) => [priority, new Map()]));
  const places = new Map<string, Lane>();

  const laneOf = ({ priority, key: { cluster } }: Waiting): Lane => {
    const ofPriority = lanes.get(priority) as Map<string, Lane>;
    const known = ofPriority.get(cluster);
    if (known !== undefined) return known;
    const lane = { cluster, entries: new Map(), earliest: Number.POSITIVE_INFINITY };
    ofPriority.set(cluster, lane);
    return lane;
  };

  const place = (text: string, entry: Waiting) => {
    const lane = laneOf(entry);
    if (lane.entries.size === 0) lane.earliest = Number.POSITIVE_INFINITY;
    const former = places.get(text);
    if (former !== lane) former?.entries.delete(text);
    lane.entries.set(text, entry);
    lane.earliest = Math.min(lane.earliest, entry.due);
    places.set(text, lane);
  };

  /** Removes and yields the keys of a lane that are due. */
  function* due(lane: Lane, now: number): Generator<[string, Waiting]> {
    let earliest = Number.POSITIVE_INFINITY;
    for (const entry of lane.entries) {
      if (entry[1].due > now) earliest = Math.min(earliest, entry[1].due);
      else {
        lane.entries.delete(entry[0]);
        places.delete(entry[0]);
        yield entry;
      }
    }
    lane.earliest = earliest;
  }

  /** Takes one key of each cluster in turn; next time, the clusters that were served come last. */
  const takeInTurn = (ofPriority: Map<string, Lane>, now: number, most: number, isHeld: Limits['isHeld']) => {
    const taken: [string, Waiting][] = [];
    const isOpen = ({ cluster, earliest }: Lane) => earliest <= now && !isHeld(cluster);
    let turns = [...ofPriority.values()].filter(isOpen).map((lane) => ({ lane, entries: due(lane, now) }));
    while (turns.length > 0) {
      const open: typeof turns = [];
      for (const turn of turns) {
        if (taken.length >= most) return taken;
        const { value } = turn.entries.next();
        if (!value) continue;
        taken.push(value);
        open.push(turn);
        ofPriority.delete(turn.lane.cluster);
        ofPriority.set(turn.lane.cluster, turn.lane);
      }
      turns = open;
    }
    return taken;
  };

  return {
    add(text, key, cause, since, dueAt) {
      const known = places.get(text)?.entries.get(text);
      const entry = known ?? { key, causes: new Map(), priority: 'background', since, due: dueAt, failures: 0 };
      entry.due = Math.min(entry.due, dueAt);
      addCause(entry.causes, cause);
      entry.priority = moreUrgent(entry.priority, priorityOf(cause));
      place(text, entry);
      return entry;
    },

    putBack(taken, where) {
      for (const [text, entry] of taken) {
        const newer = places.get(text)?.entries.get(text);
        if (newer === undefined) continue;
        for (const cause of newer.causes.values()) addCause(entry.causes, cause);
        entry.priority = moreUrgent(entry.priority, newer.priority);
        places.get(text)?.entries.delete(text);
      }
      const touched = new Set(taken.map(([, entry]) => laneOf(entry)));
      const rests = [...touched].map((lane) => ({ lane, rest: lane.entries }));
      if (where === 'first') for (const lane of touched) lane.entries = new Map();
      for (const [text, entry] of taken) place(text, entry);
      if (where === 'first') for (const { rest } of rests) for (const each of rest) place(...each);
    },

    take(now, { most, mostBackground, isHeld }) {
      const taken: [string, Waiting][] = [];
      for (const [priority, ofPriority] of lanes) {
        const isBackground = priority === 'background';
        const left = Math.min(most - taken.length, isBackground ? mostBackground : most);
        if (left > 0) taken.push(...takeInTurn(ofPriority, now, left, isBackground ? isHeld : () => false));
      }
      return taken;
    },

    nextDue(isHeld, which) {
      let next = Number.POSITIVE_INFINITY;
      for (const [priority, ofPriority] of lanes) {
        const isBackground = priority === 'background';
        if (which !== undefined && isBackground !== (which === 'background')) continue;
        for (const { cluster, entries, earliest } of ofPriority.values()) {
          if (entries.size > 0 && !(isBackground && isHeld(cluster))) next = Math.min(next, earliest);
        }
      }
      return next;
    },

    *values() {
      for (const ofPriority of lanes.values()) for (const { entries } of ofPriority.values()) yield* entries.values();
    },

    size: () => places.size,
  };
}
