import { hash } from 'node:crypto';
import { yieldToOthers } from '../../shared/event-loop.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';

/** The steps of a resync period; each key always belongs to the same one. */
const stepsPerPeriod = 360;

/** How many steps are sent at once: after a pause, the missed ones follow at four times the pace. */
const stepsPerTick = 4;

/**
 * How many steps are planned at once. Computed at each step, the steps of all keys were a tenth of what a process with
 * 10,000 Shoots at rest costs. An object that appears meanwhile is sent anyway, and belongs to the next period.
 */
const stepsAhead = 36;

/**
 * Selects the keys that are due, so that each is sent once per period and all are spread evenly over it. A key's step
 * follows from its name alone, so a restart neither repeats nor skips a key.
 * @param startMs epoch ms, of a clock that is never set back
 * @param keys the present keys of functions, with repetitions; others get their turn after each part
 */
export function createResync(
  periodSeconds: number,
  startMs: number,
  keys: () => Iterable<readonly [functionName: string, keys: Iterable<ReconcileKey>]>,
) {
  const everyMs = (periodSeconds * 1000) / stepsPerPeriod;
  /** Counted since 1970. */
  const planned = new Map<number, ChangeRequest[]>();
  let last = Math.floor(startMs / everyMs);
  let lastPlanned = last;

  const plan = async (from: number, to: number) => {
    const seen = new Set<string>();
    for (const [functionName, ofFunction] of keys()) {
      for (const key of ofFunction) {
        const text = `${functionName} ${keyText(key)}`;
        // The latest step of the key that is not after `to`.
        const step = to - modulo(to - Number.parseInt(hash('sha1', text, 'hex').slice(0, 8), 16), stepsPerPeriod);
        if (step <= from || seen.has(text)) continue;
        seen.add(text);
        const ofStep = planned.get(step) ?? [];
        planned.set(step, ofStep);
        ofStep.push({
          function: functionName,
          key,
          cause: { type: 'resync', epoch: Math.floor(step / stepsPerPeriod) },
        });
      }
      // With 40,000 objects, one part takes ten milliseconds.
      await yieldToOthers();
    }
  };

  return {
    /** How often `due` should be called, in ms. */
    everyMs,
    /** Returns what is due in the steps that have passed; after a pause in those of the last period, a few at a time. */
    async due(nowMs: number): Promise<ChangeRequest[]> {
      const present = Math.floor(nowMs / everyMs);
      const from = Math.max(last, present - stepsPerPeriod);
      const to = Math.max(from, Math.min(present, from + stepsPerTick));
      last = to;
      if (to > lastPlanned) {
        const begin = Math.max(from, lastPlanned);
        lastPlanned = to + stepsAhead;
        await plan(begin, lastPlanned);
      }
      return [...planned].flatMap(([step, ofStep]) => {
        if (step <= to) planned.delete(step);
        return step > from && step <= to ? ofStep : [];
      });
    },
  };
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
