import type { Condition } from '../../shared/gardener/types.ts';

/** Seconds between two checks of a shoot where no change is expected. */
export const RARELY = 600;
/** Seconds between two checks while a controller reconciles, which seldom takes longer. */
export const SOON = 20;

/** Flux may use the applied objects late: how long to check more often after a success, and how often, in seconds. */
const AFTER_SUCCESS = { for: 900, every: 120 };

/**
 * Returns the seconds until the next check of the shoot: few while the state changes, more the longer it stays the
 * same, many when everything is Ready, and undefined when everything is Ready and released. After a success it checks
 * often at first: Flux uses a new key or password only at its next interval, and is Ready until then.
 */
export function secondsUntilNextCheck(
  conditions: Condition[],
  allTrue: boolean,
  isReleased: boolean,
  now: Date,
  /** When the last operation ended, in ms: it may repair an old failure, or break a healthy Flux. */
  endedAt = 0,
): number | undefined {
  const applied = (now.getTime() - endedAt) / 1000;
  if (allTrue && isReleased) return undefined;
  if (allTrue) return applied < AFTER_SUCCESS.for ? AFTER_SUCCESS.every : RARELY;
  const changes = conditions.map(({ lastTransitionTime }) => Date.parse(lastTransitionTime));
  const unchanged = (now.getTime() - Math.max(endedAt, ...changes)) / 1000;
  if (unchanged < 120) return 5;
  if (unchanged < 900) return SOON;
  return unchanged < 21_600 ? 120 : RARELY;
}
