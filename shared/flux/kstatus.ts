import type { KubeObject } from '../kube/resource.ts';

/** Readiness of a Flux object, as kstatus and the Flux CLI tell it (facts/flux.md 4.1). */
export type Readiness =
  | { state: 'current'; revision?: string | undefined }
  | { state: 'in progress' | 'failed' | 'terminating' | 'suspended'; message: string };

interface FluxStatus {
  observedGeneration?: number;
  conditions?: { type: string; status: string; reason: string; message: string }[];
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
  const told = ready === undefined || ready.status === 'True' ? 'has not been reconciled yet' : ready.message;
  if (status.observedGeneration !== object.metadata.generation) return { state: 'in progress', message: told };
  if (condition('Reconciling')?.status === 'True' || ready?.status !== 'True') {
    return { state: 'in progress', message: told };
  }
  return { state: 'current', revision: status.lastAppliedRevision ?? status.artifact?.revision };
}
