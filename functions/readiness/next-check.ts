import type { Condition, Extension } from '../../shared/gardener/types.ts';
import { growingPause, secondsSince } from '../../shared/runtime/growing-pause.ts';

/** Seconds between two checks of a Shoot that is Ready and not released. Decision 32 has the load that follows. */
export const READY_CHECK_SECONDS = 720;
/** Seconds until a check while content is still being applied: its end is an event, and this only covers a lost one. */
export const APPLYING_CHECK_SECONDS = 720;
/** Seconds between two checks while a controller reconciles, which seldom takes longer. */
export const SOON = 20;

/** Flux may use the applied objects late: how long to check more often after a success, and how often, in seconds. */
const AFTER_SUCCESS = { for: 900, every: 120 };

/** An operation that has not succeeded for longer is looked at by `managed-resources`; its success wakes this function. */
const STUCK_SECONDS = 3600;

/** When things that decide about the next check happened, in ms. */
export interface Since {
  now: Date;
  /** The end of the last operation: it may repair an old failure, or break a healthy Flux. */
  endedAt?: number;
}

/**
 * Returns the seconds until the next check of the shoot: few after an operation, more the longer it stays the same, many
 * when everything is Ready, and undefined when everything is Ready and released. After a success it checks often at
 * first: Flux uses a new key or password only at its next interval, and is Ready until then.
 */
export function secondsUntilNextCheck(
  conditions: Condition[],
  allTrue: boolean,
  isReleased: boolean,
  { now, endedAt = 0 }: Since,
): number | undefined {
  const applied = secondsSince(endedAt, now);
  if (allTrue && isReleased) return undefined;
  if (allTrue) return applied < AFTER_SUCCESS.for ? AFTER_SUCCESS.every : READY_CHECK_SECONDS;
  if (applied < 120) return 5;
  if (applied < 900) return SOON;
  // A condition that changes all the time does not bring back the short intervals.
  const changes = conditions.map(({ lastTransitionTime }) => secondsSince(lastTransitionTime, now));
  return growingPause(Math.min(applied, ...changes), 60);
}

/** Returns the pause while a controller only reconciles again: soon after an operation, else as if it were done. */
export function secondsWhileReconciling({ now, endedAt = 0 }: Since): number {
  return secondsSince(endedAt, now) < AFTER_SUCCESS.for ? SOON : READY_CHECK_SECONDS;
}

/** True when the operation has not succeeded for long, so that two functions would check what stays wrong. */
export function isStuck({ status }: Extension, now: Date): boolean {
  const last = status?.lastOperation;
  if (last === undefined || last.state === 'Succeeded') return false;
  const since = status?.state?.failingSince ?? last.lastUpdateTime;
  return secondsSince(since, now) > STUCK_SECONDS;
}
