import type { Condition } from '../../shared/gardener/types.ts';

/** How often a shoot is asked where nothing is expected to change, in seconds. */
export const RARELY = 600;
/** … and where a controller is at work, which seldom takes longer. */
export const SOON = 20;

/** After a success, in seconds: how long what was applied may not have shown yet, and how often it is looked for. */
const SETTLING = { for: 900, every: 120 };

/**
 * When to ask the shoot again, in seconds: quick while something is moving, rarer the longer it takes, rare when all
 * is well, never for a shoot that is Ready and where all that is judged is the user's own. Not rare at once, though:
 * Flux takes no notice of another key or password before its next interval, and is Ready until then.
 */
export function nextLook(
  conditions: Condition[],
  allTrue: boolean,
  isReleased: boolean,
  now: Date,
  /** When the last operation ended, in ms: it may mend what was broken for long, and break what was well. */
  endedAt = 0,
): number | undefined {
  const applied = (now.getTime() - endedAt) / 1000;
  if (allTrue && isReleased) return undefined;
  if (allTrue) return applied < SETTLING.for ? SETTLING.every : RARELY;
  const changes = conditions.map(({ lastTransitionTime }) => Date.parse(lastTransitionTime));
  const quiet = (now.getTime() - Math.max(endedAt, ...changes)) / 1000;
  if (quiet < 120) return 5;
  if (quiet < 900) return SOON;
  return quiet < 21_600 ? 120 : RARELY;
}
