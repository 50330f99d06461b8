import type { Condition } from '../../shared/gardener/types.ts';
import type { Attempt } from './kstatus.ts';
import type { Verdict } from './verdict.ts';

/**
 * How long a controller may be at work before that counts: longer than the 60 s that a source has for one attempt, of
 * which a failing one tells nothing in between (facts/flux.md 2.2).
 */
const PATIENCE_SECONDS = 120;

/** What is published of the same configuration, and the time. */
export interface Before {
  conditions: Condition[];
  now: Date;
}

/**
 * What was told before and stays, because the controller is at work again and nothing else has happened: Flux turns
 * Ready to Unknown at every interval and every revision (facts/flux.md 4.1). Undefined: tell what is seen.
 */
export function staysTold(
  type: Verdict['type'],
  attempt: Attempt | undefined,
  { conditions, now }: Before,
): Verdict | undefined {
  const told = conditions.find((condition) => condition.type === type);
  if (told === undefined || attempt === undefined) return undefined;
  if (now.getTime() - Date.parse(attempt.since) >= PATIENCE_SECONDS * 1000) return undefined;
  const { status, reason, message, codes } = told;
  if (status === 'True' && attempt.isRepeated) return { type, status, reason, message };
  // What somebody has to mend is not mended by being tried again. Flux observes no generation that has only failed.
  if (status === 'False' && codes !== undefined) return { type, status, reason, message, codes };
  return undefined;
}
