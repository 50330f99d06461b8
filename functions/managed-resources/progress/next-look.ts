import { type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import type { Run } from '../run.ts';
import type { DesiredState } from './settle.ts';

/**
 * When the copies of a Shoot's resources are looked at after an operation: Gardener refreshes them beside it, through a
 * resource-manager that may be busy or away, and nothing tells when.
 */
const LOOKS_AFTER_SECONDS = [15, 60, 300];

/** The resync comes to every key within this time, so that nothing later needs a look of its own. */
const RESYNC_SECONDS = 3600;
const SOON_SECONDS = 60;
const RARELY_SECONDS = 900;

/** What may change without anybody telling. */
export interface Unannounced {
  now: number;
  /** End of the last operation in epoch ms; absent: one is under way, or there are no copies. */
  endedAt?: number | undefined;
  /** When tokens are renewed, in epoch ms. */
  renewals: readonly number[];
}

/** In how many seconds to look again; undefined: the resync is early enough. */
export function nextLook({ now, endedAt, renewals }: Unannounced): number | undefined {
  const looks = [...(endedAt === undefined ? [] : afterOperation(now - endedAt)), ...renewals.flatMap(afterRenewal)];
  return looks.length === 0 ? undefined : Math.min(...looks);

  /** A requeue is up to a quarter late: four fifths of the rest never miss the moment, and few steps lead to it. */
  function afterRenewal(renewal: number): number[] {
    const left = (renewal - now) / 1000;
    if (left > RESYNC_SECONDS) return [];
    // What is overdue may come soon, or gardenlet is away for long.
    const wait = left > 0 ? left * 0.8 : Math.min(-left, RARELY_SECONDS);
    return [Math.max(SOON_SECONDS, Math.ceil(wait))];
  }
}

function afterOperation(sinceMs: number): number[] {
  // The end is told with seconds, and never before gardenlet's timestamp.
  const since = Math.max(0, sinceMs / 1000);
  const next = LOOKS_AFTER_SECONDS.find((seconds) => seconds > since);
  return next === undefined ? [] : [Math.max(1, Math.ceil(next - since))];
}

/** The same outcome, or another look where nothing would follow although something may change unannounced. */
export function withNextLook({ context, reporter }: Run, wanted: DesiredState, outcome: Outcome): Outcome {
  if (outcome.type !== 'done') return outcome;
  const last = reporter.current().status?.lastOperation;
  const hasEnded = wanted.references.length > 0 && last?.state === 'Succeeded';
  const seconds = nextLook({
    now: context.now().getTime(),
    endedAt: hasEnded ? Date.parse(last.lastUpdateTime) : undefined,
    renewals: wanted.renewals,
  });
  return seconds === undefined ? outcome : requeueAfter(seconds);
}
