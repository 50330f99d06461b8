import { seconds } from '../../shared/gardener/operation.ts';
import type { Applied, Condition } from '../../shared/gardener/types.ts';
import { SHOOT_HEALTH } from './health.ts';
import { type UntimedCondition, withConfigHash } from './verdict.ts';

/** The types of all conditions that this function writes. */
export const ownTypes = [
  'FluxReady',
  'SourceReady',
  'KustomizationReady',
  'ObjectsReady',
  'ConfigurationFollowed',
  SHOOT_HEALTH,
];

/**
 * Returns the condition ConfigurationFollowed when `managed-resources` has recorded a problem with the configuration and
 * keeps the last applied objects.
 */
export function configurationFollowed(applied: Applied): UntimedCondition[] {
  const { problem } = applied;
  if (problem === undefined) return [];
  const condition = { type: 'ConfigurationFollowed', status: 'False', reason: 'LastAppliedStays' } as const;
  return [withConfigHash({ ...condition, message: problem }, applied)];
}

/** Returns the condition ConfigurationFollowed of a Shoot whose Flux is managed by others. */
export function leftAlone(message: string): UntimedCondition {
  return { type: 'ConfigurationFollowed', status: 'False', reason: 'ForeignFlux', message };
}

/**
 * Returns the whole list of conditions for a merge patch (trap 11): replaces the conditions of `types` by `current` and
 * preserves all others. Conditions that have not changed keep their times. Undefined when the list does not change.
 */
export function mergeConditions(
  live: Condition[],
  types: string[],
  current: UntimedCondition[],
  now: Date,
): Condition[] | undefined {
  const time = seconds(now.getTime());
  const own = current.map((condition): Condition => {
    const before = live.find(({ type }) => type === condition.type);
    if (before !== undefined && isSame(before, condition)) return before;
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : time;
    return { ...condition, lastTransitionTime, lastUpdateTime: time };
  });
  const next = [...live.filter(({ type }) => !types.includes(type)), ...own];
  return JSON.stringify(next) === JSON.stringify(live) ? undefined : next;
}

function isSame(one: UntimedCondition, other: UntimedCondition): boolean {
  return (
    one.status === other.status &&
    one.reason === other.reason &&
    one.message === other.message &&
    one.codes?.join() === other.codes?.join()
  );
}
