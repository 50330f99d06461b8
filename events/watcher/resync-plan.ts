import type { Due, Steps } from './resync.ts';

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
