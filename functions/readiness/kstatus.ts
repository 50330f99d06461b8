import type { KubeObject } from '../../shared/kube/resource.ts';
import { conditionOf, type SeenCondition, specOf, statusOf } from './seen.ts';

/** Readiness of a Flux object, by the rules of kstatus and the Flux CLI (docs/flux-facts.md, Conditions and events). */
export type Readiness =
  | { state: 'current'; revision?: string | undefined }
  | { state: 'in progress'; message: string; attempt?: Attempt | undefined }
  | { state: 'failed' | 'terminating' | 'suspended'; message: string };

/** A reconciliation that the controller has started and not finished: neither a success nor a failure. */
export interface Attempt {
  /** When it started, RFC 3339. */
  since: string;
  /** The controller has finished this generation before, and now only reconciles it again. */
  isRepeated: boolean;
}

/**
 * Returns the readiness of a Flux object. `Ready=False` is usually transient, so it is "in progress" with its message;
 * only `Stalled` is "failed". The conditions of a suspended object are stale, so they do not count.
 */
export function readiness(object: KubeObject): Readiness {
  const { lastAppliedRevision, artifact } = statusOf(object);
  if (object.metadata.deletionTimestamp !== undefined) return { state: 'terminating', message: 'is being deleted' };
  if (specOf(object).suspend === true) return { state: 'suspended', message: 'is suspended' };
  const ready = conditionOf(object, 'Ready');
  const stalled = conditionOf(object, 'Stalled');
  if (stalled?.status === 'True') return { state: 'failed', message: stalledMessage(stalled, ready) };
  const isObserved = isObservedGeneration(object);
  const reconciling = conditionOf(object, 'Reconciling');
  const isAtWork = reconciling?.status === 'True';
  if (isObserved && !isAtWork && ready?.status === 'True') {
    return { state: 'current', revision: lastAppliedRevision ?? artifact?.revision };
  }
  if (ready?.status === 'False') return { state: 'in progress', message: ready.message };
  // The message of Reconciling names the current step; that of Ready is the same for all steps.
  const message = (isAtWork ? reconciling.message : undefined) ?? (ready?.status === 'Unknown' ? ready.message : NEW);
  const since = ready?.status === 'Unknown' ? ready.lastTransitionTime || undefined : undefined;
  return {
    state: 'in progress',
    message,
    attempt: since === undefined ? undefined : { since, isRepeated: isObserved },
  };
}

/** A HelmRelease says that it has stopped; only its condition Ready says why the last attempt failed. */
function stalledMessage(stalled: SeenCondition, ready: SeenCondition | undefined): string {
  const isCountOnly = stalled.reason === 'RetriesExceeded' && ready?.status === 'False';
  return isCountOnly && ready.message !== stalled.message ? `${stalled.message}: ${ready.message}` : stalled.message;
}

/** A generation that is missing is not observed. */
export function isObservedGeneration(object: KubeObject): boolean {
  const { generation } = object.metadata;
  return generation !== undefined && statusOf(object).observedGeneration === generation;
}

const NEW = 'has not been reconciled yet';
