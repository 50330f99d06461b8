import { configHashSuffix, type parts } from '../../shared/gardener/checked.ts';
import type { Applied, Condition } from '../../shared/gardener/types.ts';
import type { Attempt } from './kstatus.ts';

/** A condition without its times. */
export type UntimedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message' | 'codes'>;

/** The result of assessing one part of Flux in a shoot. */
export interface Verdict extends UntimedCondition {
  type: (typeof parts)[number];
  status: 'True' | 'False' | 'Unknown';
}

/** Appends the hash of the configuration that the condition is about to its message. */
export function withConfigHash<T extends UntimedCondition>(condition: T, applied: Applied): T {
  return { ...condition, message: `${condition.message}${configHashSuffix(applied)}` };
}

/**
 * How long a controller may reconcile before its condition shows that: longer than the 60 s that a source has for one
 * attempt, during which a failing source reports nothing.
 */
const PATIENCE_SECONDS = 120;

/** The published conditions of the same configuration, and the current time. */
export interface Previous {
  conditions: Condition[];
  now: Date;
}

/**
 * Returns the published verdict while the controller only reconciles again: Flux sets Ready to Unknown at every
 * interval and every revision (docs/flux-facts.md, Conditions and events). Undefined: publish the observed state.
 */
export function keepVerdictWhileReconciling(
  type: Verdict['type'],
  attempt: Attempt | undefined,
  { conditions, now }: Previous,
): Verdict | undefined {
  const published = conditions.find((condition) => condition.type === type);
  if (published === undefined || attempt === undefined) return undefined;
  if (now.getTime() - Date.parse(attempt.since) >= PATIENCE_SECONDS * 1000) return undefined;
  const { status, reason, message, codes } = published;
  if (status === 'True' && attempt.isRepeated) return { type, status, reason, message };
  // A retry does not correct what a user has to correct. Flux does not observe a generation that has only failed, so
  // isRepeated says nothing here.
  if (status === 'False' && codes !== undefined) return { type, status, reason, message, codes };
  return undefined;
}
