import { seconds } from '../../shared/gardener/operation.ts';
import type { Applied, Condition } from '../../shared/gardener/types.ts';
import type { Verdict } from './judge.ts';

type Told = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

const ours = new Set(['FluxReady', 'SourceReady', 'KustomizationReady', 'ConfigurationFollowed']);

/** What the record of `managed-resources` has to say beside the verdicts: the last applied stays, and why. */
function configuration(applied: Applied): Told[] {
  if (applied.problem === undefined) return [];
  return [{ type: 'ConfigurationFollowed', status: 'False', reason: 'LastAppliedStays', message: applied.problem }];
}

/**
 * The whole list for a merge patch (trap 11): foreign conditions as they are, ours replaced; a condition that says the
 * same keeps its times. Undefined when nothing differs.
 */
export function conditions(
  live: Condition[],
  verdicts: Verdict[],
  applied: Applied,
  now: Date,
): Condition[] | undefined {
  const time = seconds(now.getTime());
  const told: Told[] = [...verdicts, ...configuration(applied)];
  const mine = told.map((entry): Condition => {
    const before = live.find(({ type }) => type === entry.type);
    if (before !== undefined && same(before, entry)) return before;
    const lastTransitionTime = before?.status === entry.status ? before.lastTransitionTime : time;
    return { ...entry, lastTransitionTime, lastUpdateTime: time };
  });
  const next = [...live.filter(({ type }) => !ours.has(type)), ...mine];
  return JSON.stringify(next) === JSON.stringify(live) ? undefined : next;
}

function same(one: Told, other: Told): boolean {
  return one.status === other.status && one.reason === other.reason && one.message === other.message;
}
