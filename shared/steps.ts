import { yieldToOthers } from './kube/event-loop.ts';

/** Long work that can pause after each of its steps. */
export type Steps<Result> = Generator<void, Result, undefined>;

/** Returns the result; others get their turn between the steps. */
export async function stepByStep<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await yieldToOthers();
  }
}
