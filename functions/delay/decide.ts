import type { Cause } from '../../shared/runtime/change-request.ts';

/** Seconds until a change is due; 0 or less: now. Only `notBefore` is worth waiting for. */
export function secondsUntilDue(cause: Cause, now: Date): number {
  return cause.type === 'notBefore' ? (Date.parse(cause.notBefore) - now.getTime()) / 1000 : 0;
}
