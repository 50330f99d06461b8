import type { Cause } from '../../shared/runtime/change-request.ts';
import type { ChangeHandler } from '../../shared/runtime/context.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';

/** Sends a change back when it is due. Until then it is delayed again, because SQS delays by at most 15 minutes. */
export const handler: ChangeHandler = async (change, context) => {
  const seconds = secondsUntilDue(change.cause, context.now());
  if (seconds > 0) return requeueAfter(seconds);
  await context.send([change]);
  return done;
};

/** Returns the seconds until a change is due, 0 or less when it is due now. */
export function secondsUntilDue(cause: Cause, now: Date): number {
  if (!('notBefore' in cause) || cause.notBefore === undefined) return 0;
  return (Date.parse(cause.notBefore) - now.getTime()) / 1000;
}
