import {
  findCondition,
  isAbout,
  isChecked,
  isOfSuspension,
  parts,
  withoutConfigHash,
} from '../../shared/gardener/checked.ts';
import { type Condition, type Extension, OPERATION_ANNOTATION } from '../../shared/gardener/types.ts';

/** What an Extension says about Flux in its shoot. Times are RFC 3339. */
export type FluxState =
  | { type: 'ready'; since: string }
  /** An operation is under way, or its result has not been checked yet. */
  | { type: 'working'; since: string; sentence: string }
  | {
      type: 'failing';
      since: string;
      sentence: string;
      /** True: only a user can correct it. Anything else may pass, for example an image that is being pulled. */
      needsUser: boolean;
    };

/** Decides from the Extension alone, and the same way whenever it is asked: this also decides which changes are news. */
export function fluxState({ metadata, status = {} }: Extension): FluxState {
  const { lastOperation, lastError } = status;
  const began = lastOperation?.lastUpdateTime ?? metadata.creationTimestamp ?? '';
  if (lastError && lastOperation !== undefined && lastOperation.state !== 'Processing') {
    const since = status.state?.failingSince ?? lastOperation.lastUpdateTime;
    const needsUser = lastError.codes !== undefined && lastError.codes.length > 0;
    return { type: 'failing', since, sentence: lastError.description, needsUser };
  }
  const kept = findCondition(status, 'ConfigurationFollowed');
  if (kept?.status === 'False') return { ...failing([kept]), needsUser: true };
  const conditions = parts.flatMap((type) => findCondition(status, type) ?? []);
  const [first, ...others] = conditions.filter((condition) => condition.status !== 'True');
  if (first !== undefined) return failing([first, ...others]);
  const isOver = lastOperation?.state === 'Succeeded';
  // An operation that changes nothing leaves Flux Ready. The next attempt of a failing one is no success yet.
  if ((isOver || status.state?.failingSince === undefined) && isChecked(status))
    return { type: 'ready', since: times(conditions).at(-1) ?? began };
  const sentence = isOver
    ? 'Flux has not been checked yet.'
    : (lastOperation?.description ?? 'Nothing was reported yet.');
  return { type: 'working', since: began, sentence };
}

/** Returns what makes a change of the state news: the steps of an operation are none. */
export function newsOf(state: FluxState): unknown[] {
  return state.type === 'failing' ? [state.type, state.since, state.sentence, state.needsUser] : [state.type];
}

/** What of a Shoot rollouts wait for. */
interface RolloutNews {
  /** What it has of its project. */
  revision: string | undefined;
  /** What the operators have given it. */
  landscape: string | undefined;
  /** True: its failure is about what it has. */
  isJudged: boolean;
  /** True: Flux in it has neither worked nor failed. */
  isSuspended: boolean;
  /** True: Flux itself does not run, whatever its users have written. */
  isFluxDown: boolean;
}

/** Returns what rollouts wait for; undefined where there is none. */
export function rolloutNews({ status = {} }: Extension): RolloutNews | undefined {
  const { applied } = status.state ?? {};
  if (applied === undefined || (applied.revision ?? applied.landscape) === undefined) return undefined;
  const isJudged = parts.some((type) => {
    const condition = findCondition(status, type);
    return condition !== undefined && condition.status !== 'True' && isAbout(condition, applied);
  });
  // An error of a configuration that was not applied says nothing about the one that is.
  const hasFailed = status.lastOperation?.state === 'Error' && status.state?.unapplied !== true;
  // Right after a resumption nothing has been looked at yet: the conditions are still those of the suspension.
  const isUnchecked = !hasFailed && status.conditions?.some(isOfSuspension);
  const isSuspended = applied.suspension !== undefined || isUnchecked === true;
  const { revision, landscape } = applied;
  const isFluxDown = hasFailed || findCondition(status, 'FluxReady')?.status === 'False';
  return { revision, landscape, isJudged: isJudged || hasFailed, isSuspended, isFluxDown };
}

/** True when another seed has the control plane, or this one does not have its state yet: only one of both reports. */
export function isElsewhere({ metadata, status }: Extension): boolean {
  const operation = metadata.annotations?.[OPERATION_ANNOTATION];
  if (operation === 'migrate' || operation === 'wait-for-state') return true;
  const last = status?.lastOperation;
  return operation !== 'restore' && last?.type === 'Migrate' && last.state === 'Succeeded';
}

function failing(conditions: [Condition, ...Condition[]]): FluxState & { type: 'failing' } {
  // What a user has to correct explains the rest; otherwise the first: without its source, a Kustomization waits.
  const ofUser = conditions.find(({ codes }) => codes !== undefined);
  const sentence = withoutConfigHash((ofUser ?? conditions[0]).message);
  return { type: 'failing', since: times(conditions)[0] ?? '', sentence, needsUser: ofUser !== undefined };
}

/** When they became what they are, the earliest first. */
function times(conditions: Condition[]): string[] {
  return conditions.map(({ lastTransitionTime }) => lastTransitionTime).sort();
}
