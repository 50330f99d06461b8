import { type OperationReport, seconds } from '../../shared/gardener/operation.ts';
import type { ResourceReference } from '../../shared/gardener/references.ts';
import type { Applied, Extension } from '../../shared/gardener/types.ts';
import { mergeDiff } from '../../shared/kube/merge-patch.ts';

/** What a report records in the same write; a field that is absent stays unchanged. */
export interface Recorded {
  applied?: Applied | undefined;
  references?: ResourceReference[] | undefined;
  /** The release of an upgrade that continues in later runs, although no request is left. */
  upgradingTo?: string | undefined;
  /** Refs of the objects that an adoption is about to protect. */
  adopting?: string[] | undefined;
  /** True: the error is about a configuration that is not applied. */
  isUnapplied?: boolean | undefined;
}

/** A report of an operation, as far as it decides about `state`. */
interface Report {
  state: OperationReport['state'];
  recorded: Recorded;
  now: Date;
  /** True: gardenlet or a user has asked again, maybe with the correction, so the looks are frequent again. */
  isRestarted: boolean;
}

type State = NonNullable<NonNullable<Extension['status']>['state']>;

/** The changes of a field of `state`: null removes it, undefined leaves it. */
type Change<T> = T | null | undefined;

/** Returns the changes of record, summary and other fields of `state` with a report; empty when all are up to date. */
export function reportChanges(extension: Extension, report: Report): Record<string, unknown> {
  const before = extension.status?.state ?? {};
  const fields = {
    failingSince: failingSince(before, report),
    upgradingTo: upgradingTo(before, report),
    adopting: adopting(before, report),
    unapplied: unapplied(before, report),
  };
  const changed = Object.entries(fields).filter(([, value]) => value !== undefined);
  const changes = recordChanges(extension, report.recorded.applied);
  if (changed.length === 0) return changes;
  return { ...changes, state: { ...(changes.state as object | undefined), ...Object.fromEntries(changed) } };
}

function failingSince({ failingSince: since }: State, { state, now, isRestarted }: Report): Change<string> {
  if (state === 'Processing') return undefined;
  if (state === 'Succeeded') return since === undefined ? undefined : null;
  return since === undefined || isRestarted ? seconds(now.getTime()) : undefined;
}

function upgradingTo({ upgradingTo: before }: State, { state, recorded }: Report): Change<string> {
  if (recorded.upgradingTo !== undefined) return recorded.upgradingTo === before ? undefined : recorded.upgradingTo;
  const isRecorded = state === 'Succeeded' || recorded.applied?.fluxVersion === before;
  return before !== undefined && isRecorded ? null : undefined;
}

function adopting({ adopting: before }: State, { recorded: { adopting: refs, applied } }: Report): Change<string[]> {
  if (refs !== undefined) return JSON.stringify(refs) === JSON.stringify(before) ? undefined : refs;
  return before !== undefined && applied?.protected === true ? null : undefined;
}

/** A project without a rollout has no revision. */
function unapplied({ applied, unapplied: before }: State, { state, recorded }: Report): Change<true> {
  if (state === 'Processing') return undefined;
  if (recorded.isUnapplied === true && applied?.revision !== undefined) return before === true ? undefined : true;
  return before === undefined ? undefined : null;
}

/** Returns the changes of the record and of its summary in `providerStatus`; empty when both are up to date. */
export function recordChanges({ status }: Extension, applied: Applied | undefined): Record<string, unknown> {
  if (applied === undefined) return {};
  const { fluxVersion, syncMode, configHash, warnings } = applied;
  const difference = mergeDiff(status?.state?.applied, applied);
  // `readiness` writes `providerStatus.flux`, beside these four.
  const { providerStatus } = status ?? {};
  const shown = Object.entries({ fluxVersion, syncMode, configHash, warnings }).filter(
    ([field, value]) => JSON.stringify(providerStatus?.[field]) !== JSON.stringify(value),
  );
  return {
    ...(difference === undefined ? {} : { state: { applied: difference } }),
    ...(shown.length === 0
      ? {}
      : { providerStatus: Object.fromEntries(shown.map(([field, value]) => [field, value ?? null])) }),
  };
}
