/** What a function run ends with, unless it throws. `afterSeconds` may be anything from 1 s to days. */
export type Outcome = { type: 'done' } | { type: 'requeue'; afterSeconds: number };

/** Nothing left to do until something changes. */
export const done: Outcome = { type: 'done' };

/** Run again after so many seconds, unless a change comes first. The key is free for other changes meanwhile. */
export function requeueAfter(afterSeconds: number): Outcome {
  return { type: 'requeue', afterSeconds };
}
