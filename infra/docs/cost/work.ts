import type { Landscape, assumptions as values } from './assumptions.ts';
import type { Activity, ActivityName } from './inputs.ts';

type Assumptions = typeof values;

/** Returns what happens in an hour in a landscape: its Shoots at rest, and the share of a month's events. */
export function workPerHour(
  { shoots, followed }: Landscape,
  activities: Record<ActivityName, Activity>,
  { hoursPerMonth, editsPerMonth, reconciliationsPerMonth, createdPerMonth }: Assumptions,
): Activity {
  const perShoot: [Activity, number][] = [
    [activities.followed, followed],
    [activities.released, 1 - followed],
    [activities.edit, editsPerMonth / hoursPerMonth],
    [activities.reconcile, reconciliationsPerMonth / hoursPerMonth],
    [activities.create, createdPerMonth / hoursPerMonth],
  ];
  const sum = (measure: keyof Activity) =>
    shoots * perShoot.reduce((total, [activity, times]) => total + activity[measure] * times, 0);
  return {
    invocations: sum('invocations'),
    garden: sum('garden'),
    seed: sum('seed'),
    shoot: sum('shoot'),
    fifo: sum('fifo'),
    standard: sum('standard'),
    messages: sum('messages'),
    events: sum('events'),
  };
}

/** Returns all API requests of the functions. */
export function apiRequests({ garden, seed, shoot }: Activity): number {
  return garden + seed + shoot;
}
