import type { ChangeHandler } from '../../shared/runtime/context.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';
import { secondsUntilDue } from './decide.ts';

/** Due: to the queue of its function. Not yet, because SQS delays at most 15 minutes: one more hop. */
export const handler: ChangeHandler = async (change, context) => {
  const seconds = secondsUntilDue(change.cause, context.now());
  if (seconds > 0) return requeueAfter(seconds);
  await context.send([change]);
  return done;
};
