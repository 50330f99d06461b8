import type { KubeObject } from '../../shared/kube/resource.ts';

/** Readiness of a Flux object, as kstatus and the Flux CLI tell it (facts/flux.md 4.1). */
export type Readiness =
  | { state: 'current'; revision?: string | undefined }
  | { state: 'in progress'; message: string; attempt?: Attempt | undefined }
  | { state: 'failed' | 'terminating' | 'suspended'; message: string };

/** The controller is at work, and how that ends is open: neither a success nor a failure. */
export interface Attempt {
  /** When it began, RFC 3339. */
  since: string;
  /** It has come to an end for this generation before, so that nothing but time has passed since. */
  isRepeated: boolean;
}

interface FluxCondition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime?: string;
}

interface FluxStatus {
  observedGeneration?: number;
  conditions?: FluxCondition[];
  lastAppliedRevision?: string;
  artifact?: { revision?: string };
}

/**
 * `Ready=False` is usually transient, so it is "in progress" with its message; only `Stalled` is "failed". A suspended
 * object's conditions are stale (facts/flux.md 4.3): it is not judged.
 */
export function readiness(object: KubeObject): Readiness {
  const status = (object.status ?? {}) as FluxStatus;
  const condition = (type: string) => status.conditions?.find((entry) => entry.type === type);
  if (object.metadata.deletionTimestamp !== undefined) return { state: 'terminating', message: 'is being deleted' };
  if ((object.spec as { suspend?: boolean } | undefined)?.suspend === true)
    return { state: 'suspended', message: 'is suspended' };
  const ready = condition('Ready');
  const stalled = condition('Stalled');
  if (stalled?.status === 'True') return { state: 'failed', message: stalled.message };
  const isObserved = status.observedGeneration === object.metadata.generation;
  const reconciling = condition('Reconciling');
  const isAtWork = reconciling?.status === 'True';
  if (isObserved && !isAtWork && ready?.status === 'True') {
    return { state: 'current', revision: status.lastAppliedRevision ?? status.artifact?.revision };
  }
  if (ready?.status === 'False') return { state: 'in progress', message: ready.message };
  // Reconciling tells the step, Ready the same words at each.
  const message = (isAtWork ? reconciling.message : undefined) ?? (ready?.status === 'Unknown' ? ready.message : NEW);
  const since = ready?.status === 'Unknown' ? ready.lastTransitionTime : undefined;
  return {
    state: 'in progress',
    message,
    attempt: since === undefined ? undefined : { since, isRepeated: isObserved },
  };
}

const NEW = 'has not been reconciled yet';
