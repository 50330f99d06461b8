/** The result of a run that does not throw. `afterSeconds` may be anything from 1 s to days. */
export type Outcome = { type: 'done' } | { type: 'requeue'; afterSeconds: number };

/** Nothing to do until something changes. */
export const done: Outcome = { type: 'done' };

/** Runs again after so many seconds, unless a change arrives first. Does not block other changes of the key. */
export function requeueAfter(afterSeconds: number): Outcome {
  return { type: 'requeue', afterSeconds };
}

/** Returns the outcome that runs again first. */
export function sooner(one: Outcome, other: Outcome): Outcome {
  if (one.type === 'done') return other;
  return other.type === 'done' || one.afterSeconds <= other.afterSeconds ? one : other;
}
