import type { Condition } from '../../shared/gardener/types.ts';

/**
 * When to ask the shoot again, in seconds: quick while something is moving, rarer the longer it takes, rare when all
 * is well, never for a shoot that is Ready and whose sync objects are the user's own.
 */
export function nextLook(
  conditions: Condition[],
  allTrue: boolean,
  isReleased: boolean,
  now: Date,
): number | undefined {
  if (allTrue) return isReleased ? undefined : 600;
  const changes = conditions.map(({ lastTransitionTime }) => Date.parse(lastTransitionTime));
  const quiet = (now.getTime() - Math.max(0, ...changes)) / 1000;
  if (quiet < 120) return 5;
  return quiet < 900 ? 20 : 120;
}
