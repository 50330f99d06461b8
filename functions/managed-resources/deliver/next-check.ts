import { growingPause } from '../../../shared/runtime/growing-pause.ts';
import { type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import type { Plan } from '../plan/plan.ts';
import type { Run } from '../run.ts';

/**
 * When to recheck the copies of a Shoot's resources after an operation: Gardener refreshes them without an event for us.
 */
const RECHECKS_AFTER_SECONDS = [15, 60, 300];

/** The resync covers every key within this time, so anything later needs no check. */
const RESYNC_SECONDS = 3600;
const SOON_SECONDS = 60;
/** A token that is overdue for longer is left to the resync. */
const LONGEST_OVERDUE_SECONDS = 21_600;

/** Things that may change without an event. */
interface Unannounced {
  now: number;
  /** End of the last operation in epoch ms; absent: one is in flight, or there are no copies. */
  endedAt?: number | undefined;
  /** When tokens are renewed, in epoch ms. */
  renewals: readonly number[];
  /** Since when an object that leaves is not suspended in the shoot, in epoch ms; absent: none is. */
  unsuspendedSince?: number | undefined;
}

/** Returns in how many seconds to recheck; undefined: the resync is early enough. */
export function nextCheck({ now, endedAt, renewals, unsuspendedSince }: Unannounced): number | undefined {
  const checks = [
    ...(endedAt === undefined ? [] : afterOperation(now - endedAt)),
    ...renewals.flatMap(afterRenewal),
    ...(unsuspendedSince === undefined ? [] : [growingPause((now - unsuspendedSince) / 1000, 10)]),
  ];
  return checks.length === 0 ? undefined : Math.min(...checks);

  /** Long requeues fire up to 50 % late; waiting 65 % of the remaining time is never late and needs few hops. */
  function afterRenewal(renewal: number): number[] {
    const left = (renewal - now) / 1000;
    // An overdue token may come soon, or gardenlet is down for long.
    if (left > RESYNC_SECONDS || left < -LONGEST_OVERDUE_SECONDS) return [];
    return [left > 0 ? Math.max(SOON_SECONDS, Math.ceil(left * 0.65)) : growingPause(-left, SOON_SECONDS)];
  }
}

function afterOperation(sinceMs: number): number[] {
  // The end is reported in whole seconds, and never before gardenlet's timestamp.
  const since = Math.max(0, sinceMs / 1000);
  const next = RECHECKS_AFTER_SECONDS.find((seconds) => seconds > since);
  return next === undefined ? [] : [Math.max(1, Math.ceil(next - since))];
}

/** Returns the outcome, or a requeue where the run is done although something may change without an event. */
export function withNextCheck({ context, reporter }: Run, plan: Plan, outcome: Outcome): Outcome {
  if (outcome.type !== 'done') return outcome;
  const last = reporter.current().status?.lastOperation;
  const hasEnded = plan.references.length > 0 && last?.state === 'Succeeded';
  const seconds = nextCheck({
    now: context.now().getTime(),
    endedAt: hasEnded ? Date.parse(last.lastUpdateTime) : undefined,
    renewals: plan.renewals,
    unsuspendedSince: plan.awaitsSuspension ? Date.parse(last?.lastUpdateTime ?? '') : undefined,
  });
  return seconds === undefined ? outcome : requeueAfter(seconds);
}
