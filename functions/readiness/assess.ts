import { MAIN_GIT_REPOSITORY, MAIN_KUSTOMIZATION, SUSPENDED } from '../../shared/config/project-config.ts';
import { FORMER_TARGET_NAMESPACE, TARGET_NAMESPACE_CHOICE } from '../../shared/config/target-namespace.ts';
import { configHashSuffix, expectedParts, isOfSuspension, SUSPENDED_REASON } from '../../shared/gardener/checked.ts';
import { managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import type { Applied, FluxStatus, ShootObject } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { controllersVerdict, type ObservedControllers } from './controllers.ts';
import { explain, isForUser } from './explain/explain.ts';
import { nameOf, type Origin } from './explain/places.ts';
import { remediesFor } from './explain/remedies.ts';
import { type Attempt, type Readiness, readiness } from './kstatus.ts';
import { statusOf } from './seen.ts';
import { keepVerdictWhileReconciling, type Previous, type Verdict, withConfigHash } from './verdict.ts';

/** Enough for the name of a branch or tag and a digest: owners of a shoot may write anything into a status there. */
const LONGEST_REVISION = 400;

/** What was read from the shoot; undefined objects do not exist there. */
export interface Observed extends ObservedControllers {
  source?: KubeObject | undefined;
  kustomization?: KubeObject | undefined;
  /** At the positions of `others` of the record. */
  others?: (KubeObject | undefined)[] | undefined;
}

/** The verdicts and their summary for one config hash. */
export interface Assessment {
  verdicts: Verdict[];
  flux: FluxStatus;
  /** A published verdict is kept only while its controller reconciles. */
  isReconciling?: boolean;
}

/** Returns verdicts about Flux in the shoot; the message of each ends with the config hash that it is about. */
export function assess(applied: Applied, observed: Observed, previous: Previous): Assessment {
  const same = ofSameConfig(applied, previous);
  const look = (reference: ShootObject, object: KubeObject | undefined) => looked(applied, reference, object);
  const others = applied.others?.map((reference, index) => look(reference, observed.others?.[index]));
  const objects = [
    ...(applied.source ? [verdictOf('SourceReady', [look(applied.source, observed.source)], same)] : []),
    ...(applied.kustomization
      ? [verdictOf('KustomizationReady', [look(applied.kustomization, observed.kustomization)], same)]
      : []),
    ...(others ? [verdictOf('ObjectsReady', others, same)] : []),
  ];
  const synced = objects.map(({ verdict }) => verdict);
  const verdicts = [controllersVerdict(applied, observed, same), ...synced];
  const revision = statusOf(observed.kustomization).lastAppliedRevision;
  const notReady = verdicts.filter(({ status }) => status !== 'True').map(({ message }) => message);
  return {
    verdicts: verdicts.map((verdict) => withConfigHash(verdict, applied)),
    flux: {
      configHash: applied.configHash,
      // Suspended, nothing has been seen to work.
      ready: applied.suspension === undefined && synced.every(({ status }) => status === 'True'),
      ...(revision === undefined ? {} : { appliedRevision: safeText(revision, LONGEST_REVISION) }),
      ...(notReady.length === 0 ? {} : { notReady }),
    },
    ...(objects.some(({ isReconciling }) => isReconciling) && { isReconciling: true }),
  };
}

/** Returns the verdict Unknown for everything, for example because the shoot cannot be reached. */
export function assessAsUnknown(applied: Applied, reason: string, message: string): Assessment {
  const unknown = { status: 'Unknown', reason, message } as const;
  return {
    verdicts: expectedParts(applied).map((type) => withConfigHash({ type, ...unknown }, applied)),
    flux: { configHash: applied.configHash, ready: false, notReady: [message] },
  };
}

/** How many objects a message names; the rest are counted. */
const MOST_NAMED = 3;

/** One verdict about objects: each has its own sentence, as long as few are not Ready. */
function verdictOf(
  type: Verdict['type'],
  looks: readonly Look[],
  previous: Previous,
): { verdict: Verdict; isReconciling: boolean } {
  const notReady = looks.filter(({ isReady }) => !isReady);
  if (notReady.length === 0) return { verdict: { type, ...ready(type, looks) }, isReconciling: false };
  const attempts = notReady.map(({ attempt }) => attempt);
  // The published verdict stays only while every object that is not Ready is at work.
  const kept = attempts.includes(undefined) ? undefined : keepVerdictWhileReconciling(type, oldest(attempts), previous);
  return { verdict: kept ?? { type, ...together(notReady) }, isReconciling: kept !== undefined };
}

function ready(type: Verdict['type'], looks: readonly Look[]): Omit<Verdict, 'type'> {
  const [only] = looks;
  const suspended = looks.find(({ isSuspended }) => isSuspended);
  if (suspended !== undefined) return suspended.verdict();
  if (only !== undefined && type !== 'ObjectsReady') return only.verdict();
  const message = looks.length === 1 ? 'The other object is Ready.' : `All ${looks.length} other objects are Ready.`;
  return { status: 'True', reason: 'Ready', message };
}

/** What decides whether an object is named. */
interface Look {
  isReady: boolean;
  /** True: a user has to correct something. */
  isError: boolean;
  /** True: the whole project is suspended. */
  isSuspended?: true;
  attempt?: Attempt | undefined;
  /** Makes the sentence: milliseconds for some messages, and a shoot may write one for each of a hundred objects. */
  verdict: () => Omit<Verdict, 'type'>;
}

function looked(applied: Applied, reference: ShootObject, object: KubeObject | undefined): Look {
  const origin = originOf(applied, reference);
  if (object === undefined) {
    return { isReady: false, isError: false, verdict: () => missingState(reference, origin) };
  }
  const state = readiness(object);
  const { suspension } = applied;
  // The project, not just this object.
  const isOfProject = suspension !== undefined && object.metadata.annotations?.[SUSPENDED] !== undefined;
  if (state.state === 'suspended' && isOfProject) {
    const message = `Suspended ${safeText(suspension)}; shoot-flux resume --project PROJECT takes it back.`;
    const verdict = { status: 'True', reason: SUSPENDED_REASON, message } as const;
    return { isReady: true, isError: false, isSuspended: true, verdict: () => verdict };
  }
  const isFailing = state.state === 'failed' || state.state === 'in progress';
  return {
    isReady: state.state === 'current',
    isError: isFailing && isForUser(object.kind, state.message),
    ...(state.state === 'in progress' && { attempt: state.attempt }),
    verdict: () => objectState(object, state, origin),
  };
}

function oldest(attempts: readonly (Attempt | undefined)[]): Attempt | undefined {
  const known = attempts.filter((attempt) => attempt !== undefined);
  const since = known.map((attempt) => attempt.since).sort()[0];
  return since === undefined ? undefined : { since, isRepeated: known.every(({ isRepeated }) => isRepeated) };
}

/** An error that a user has to correct comes first, what only takes time comes last. */
function together(states: readonly Look[]): Omit<Verdict, 'type'> {
  const sorted = states.toSorted((one, other) => Number(other.isError) - Number(one.isError));
  const named = sorted.slice(0, MOST_NAMED).map(({ verdict }) => verdict());
  const [first = { status: 'False', reason: 'Progressing' } as const] = named;
  const unnamed = sorted.length - named.length;
  const more =
    unnamed > 0 ? [unnamed === 1 ? '1 more object is not Ready.' : `${unnamed} more objects are not Ready.`] : [];
  return { ...first, message: [...named.map(({ message }) => message), ...more].join(' ') };
}

/** Returns the verdict about an object that does not exist in the shoot. */
export function missingState({ kind, namespace, name }: ShootObject, { isReleased }: Origin): Omit<Verdict, 'type'> {
  const remedy = isReleased
    ? 'recreate it in the shoot (with syncMode Once it is no longer managed), or set syncMode to ManifestsOnly or Reconcile'
    : 'the next reconciliation of the Shoot recreates it';
  const message = `${kind} ${namespace}/${name} does not exist in the shoot; ${remedy}.`;
  return { status: 'False', reason: 'Missing', message };
}

/** Returns the verdict about an object in the shoot, with the remedy. */
export function objectState(object: KubeObject, state: Readiness, origin: Origin): Omit<Verdict, 'type'> {
  const name = nameOf(object);
  switch (state.state) {
    case 'current': {
      const at = state.revision === undefined ? '' : ` at ${safeText(state.revision, LONGEST_REVISION)}`;
      return { status: 'True', reason: 'Ready', message: `${name} is Ready${at}.${namespaceChoice(origin)}` };
    }
    case 'suspended': {
      const { suspend } = remediesFor(object, origin).places;
      const message = `${name} is suspended and does not sync; set ${suspend} to false to resume it.`;
      return { status: 'False', reason: SUSPENDED_REASON, message };
    }
    case 'terminating': {
      const message = `${name} is being deleted; if this persists, check which of its finalizers block the deletion.`;
      return { status: 'False', reason: 'Terminating', message };
    }
    default: {
      const { reason, message, codes } = explain(object, state.message, origin);
      const fallback = state.state === 'failed' ? 'Stalled' : 'Progressing';
      return { status: 'False', reason: reason ?? fallback, message, ...(codes.length > 0 && { codes }) };
    }
  }
}

/** What to set where nobody has chosen the `targetNamespace`. Nothing is wrong, so the Shoot stays Ready. */
function namespaceChoice({ keepsNamespace, isReleased }: Origin): string {
  if (keepsNamespace === undefined || isReleased) return '';
  return ` Nobody has chosen its targetNamespace ${FORMER_TARGET_NAMESPACE}; ${TARGET_NAMESPACE_CHOICE}.`;
}

/** Where the user can correct the object: the names of objects from the keys of `flux-config` are fixed. */
export function originOf(applied: Applied, reference: ShootObject): Origin {
  const { name, place, patched } = reference;
  const isMain = name === MAIN_GIT_REPOSITORY || name === MAIN_KUSTOMIZATION;
  return {
    from: applied.fromFluxConfig && isMain ? 'flux-config' : 'providerConfig',
    isReleased: applied.managedResources[managedResourceNames.sync] === undefined,
    ...(place && { place }),
    ...(patched && { patched }),
    ...(reference === applied.kustomization && { keepsNamespace: applied.keepsNamespace }),
  };
}

/** The conditions about the same configuration, without its hash. What they say about a suspension ends with it. */
function ofSameConfig(applied: Applied, { conditions, now }: Previous): Previous {
  const end = configHashSuffix(applied);
  const isOver = applied.suspension === undefined;
  const same = conditions.filter((one) => one.message.endsWith(end) && !(isOver && isOfSuspension(one)));
  return { conditions: same.map((one) => ({ ...one, message: one.message.slice(0, -end.length) })), now };
}
