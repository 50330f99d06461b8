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
