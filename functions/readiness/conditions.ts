import { seconds } from '../../shared/gardener/operation.ts';
import type { Applied, Condition } from '../../shared/gardener/types.ts';
import { SHOOT_HEALTH } from './health.ts';
import { hashed, type Told } from './verdict.ts';

/** All conditions of ours. */
export const allOurs = ['FluxReady', 'SourceReady', 'KustomizationReady', 'ConfigurationFollowed', SHOOT_HEALTH];

/** What the record of `managed-resources` has to say beside the verdicts: the last applied stays, and why. */
export function configurationFollowed(applied: Applied): Told[] {
  if (applied.problem === undefined) return [];
  const told = { status: 'False', reason: 'LastAppliedStays', message: applied.problem } as const;
  return [hashed({ type: 'ConfigurationFollowed', ...told }, applied)];
}

/**
 * The whole list for a merge patch (trap 11): those of `types` are replaced by what is told, all others stay as they
 * are; a condition that says the same keeps its times. Undefined when nothing differs.
 */
export function conditions(live: Condition[], types: string[], told: Told[], now: Date): Condition[] | undefined {
  const time = seconds(now.getTime());
  const mine = told.map((entry): Condition => {
    const before = live.find(({ type }) => type === entry.type);
    if (before !== undefined && same(before, entry)) return before;
    const lastTransitionTime = before?.status === entry.status ? before.lastTransitionTime : time;
    return { ...entry, lastTransitionTime, lastUpdateTime: time };
  });
  const next = [...live.filter(({ type }) => !types.includes(type)), ...mine];
  return JSON.stringify(next) === JSON.stringify(live) ? undefined : next;
}

function same(one: Told, other: Told): boolean {
  return (
    one.status === other.status &&
    one.reason === other.reason &&
    one.message === other.message &&
    one.codes?.join() === other.codes?.join()
  );
}
