import type { Cause } from '../../shared/runtime/change-request.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';

/** The steps of a resync period; each key always belongs to the same one. */
const stepsPerPeriod = 360;

/** How many steps are sent at once: after a pause, the missed ones follow at four times the pace. */
const stepsPerTick = 4;

/** Selects the keys that are due, so that each is sent once per period and all are spread evenly over it. */
export interface Resync {
  /** How often `due` should be called, in ms. */
  everyMs: number;
  /**
   * Returns the keys of `all` whose step is among `steps`, each with its cause.
   * @param seen texts of the keys that are omitted; gets those that are returned
   */
  due(functionName: string, all: Iterable<ReconcileKey>, steps: Steps, seen?: Set<string>): Iterable<Due>;
  /** Returns the next steps that have passed; after a pause those of the last period, a few at a time. */
  advance(nowMs: number): Steps;
}

/** A key of a function, and the step in which it is sent. */
export interface Due {
  functionName: string;
  key: ReconcileKey;
  cause: Cause;
  step: number;
}

/** Steps `from` (exclusive) to `to` (inclusive), counted since 1970. */
export interface Steps {
  from: number;
  to: number;
}

/**
 * A key's step follows from its name alone, so a restart neither repeats nor skips a key.
 * @param startMs epoch ms, of a clock that is never set back
 */
export function createResync(periodSeconds: number, startMs: number): Resync {
  const everyMs = (periodSeconds * 1000) / stepsPerPeriod;
  let last = Math.floor(startMs / everyMs);
  return {
    everyMs,
    advance(nowMs) {
      const present = Math.floor(nowMs / everyMs);
      const from = Math.max(last, present - stepsPerPeriod);
      last = Math.max(from, Math.min(present, from + stepsPerTick));
      return { from, to: last };
    },
    *due(functionName, all, { from, to }, seen = new Set()) {
      if (from === to) return;
      for (const key of all) {
        const text = keyText(key);
        // The latest step of the key that is not after `to`.
        const step = to - modulo(to - fnv(`${functionName} ${text}`), stepsPerPeriod);
        if (step <= from || seen.has(text)) continue;
        seen.add(text);
        yield { functionName, key, cause: { type: 'resync', epoch: Math.floor(step / stepsPerPeriod) }, step };
      }
    },
  };
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

/** FNV-1a, 32 bits. */
function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/**
 * How many steps are planned at once. Computed at each step, the steps of all keys were a tenth of what a process with
 * 10,000 Shoots at rest costs.
 */
const stepsAhead = 36;

/** The keys of the steps to come. An object that appears meanwhile is sent anyway, and belongs to the next period. */
export interface ResyncPlan {
  /** Returns the steps to plan before `steps` can be taken; undefined if all of them are planned. */
  missing(steps: Steps): Steps | undefined;
  /** Adds what is due in missing steps. */
  add(due: Due): void;
  /** Returns what is due in these steps, and forgets it and all before. */
  take(steps: Steps): Due[];
}

/** Creates an empty plan. */
export function createResyncPlan(): ResyncPlan {
  const planned = new Map<number, Due[]>();
  let last = Number.NEGATIVE_INFINITY;
  return {
    missing({ from, to }) {
      if (to <= last) return undefined;
      const missing = { from: Math.max(from, last), to: to + stepsAhead };
      last = missing.to;
      return missing;
    },
    add(due) {
      const ofStep = planned.get(due.step);
      if (ofStep === undefined) planned.set(due.step, [due]);
      else ofStep.push(due);
    },
    take({ from, to }) {
      const due: Due[] = [];
      for (const [step, ofStep] of planned) {
        if (step > to) continue;
        planned.delete(step);
        if (step > from) due.push(...ofStep);
      }
      return due;
    },
  };
}
