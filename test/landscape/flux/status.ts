import { isDeepStrictEqual } from 'node:util';
import type { KubeClient, KubeObject, Resource } from '../client/client.ts';
import { seconds } from '../controllers/work-queue.ts';

export const FINALIZER = 'finalizers.fluxcd.io';
export const REQUESTED_AT = 'reconcile.fluxcd.io/requestedAt';

/** A condition of a Flux object. */
export interface FluxCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}

export interface FluxObject extends KubeObject {
  spec: { interval?: string; retryInterval?: string; suspend?: boolean; [field: string]: unknown };
  status?: {
    observedGeneration?: number;
    conditions?: FluxCondition[];
    lastHandledReconcileAt?: string;
    [field: string]: unknown;
  };
}

/** The conditions to set; all others are removed. */
export type FluxConditions = Record<string, Pick<FluxCondition, 'status' | 'reason' | 'message'>>;

/** A failure that ends one attempt, reported as `Ready=False`. */
export class FluxFailure extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

export type FluxSubject<T extends FluxObject> = ReturnType<typeof fluxSubject<T>>;

/** One Flux object during one attempt. */
export function fluxSubject<T extends FluxObject>(
  client: KubeClient,
  resource: Resource,
  object: T,
  fieldManager: string,
) {
  let current = object;
  const patch = async (body: object, subresource?: 'status') => {
    const options = { fieldManager, ...(subresource && { subresource }) };
    current = await client.mergePatch<T>(resource, current.metadata, body, options);
  };
  const finalizers = () => current.metadata.finalizers ?? [];
  return {
    current: () => current,
    /** Sets exactly these conditions, and further fields of the status. */
    async setStatus(wanted: FluxConditions, fields: Record<string, unknown> = {}) {
      const old = current.status?.conditions ?? [];
      const { generation = 0 } = current.metadata;
      const conditions = Object.entries(wanted).map(([type, next]) => {
        const before = old.find((condition) => condition.type === type);
        const lastTransitionTime = before?.status === next.status ? before.lastTransitionTime : seconds(Date.now());
        return { type, ...next, lastTransitionTime, observedGeneration: generation };
      });
      const requestedAt = current.metadata.annotations?.[REQUESTED_AT];
      const handled = requestedAt === undefined ? {} : { lastHandledReconcileAt: requestedAt };
      const status = { conditions, ...handled, ...fields };
      const same = Object.entries(status).every(([key, value]) => isDeepStrictEqual(current.status?.[key], value));
      if (!same) await patch({ status }, 'status');
    },
    async addFinalizer() {
      if (!finalizers().includes(FINALIZER)) await patch({ metadata: { finalizers: [...finalizers(), FINALIZER] } });
    },
    async removeFinalizer() {
      await patch({ metadata: { finalizers: finalizers().filter((finalizer) => finalizer !== FINALIZER) } });
    },
  };
}

/** Returns the conditions during an attempt; `Ready` stays False when the last attempt failed. */
export function progressing(object: FluxObject, message: string): FluxConditions {
  const ready = object.status?.conditions?.find(({ type }) => type === 'Ready');
  const { generation } = object.metadata;
  if (ready?.status === 'True' && object.status?.observedGeneration === generation) return kept(object);
  const failed = ready?.status === 'False';
  return {
    ...(failed ? kept(object) : {}),
    Reconciling: { status: 'True', reason: failed ? 'ProgressingWithRetry' : 'Progressing', message },
    ...(failed ? {} : { Ready: { status: 'Unknown', reason: 'Progressing', message } }),
  };
}

function kept(object: FluxObject): FluxConditions {
  return Object.fromEntries(
    (object.status?.conditions ?? []).map(({ type, status, reason, message }) => [type, { status, reason, message }]),
  );
}

/**
 * Returns whether a change needs an attempt: the object is new or being deleted, its spec changed, or a reconciliation
 * was requested.
 */
export function isWoken(object: FluxObject, old: FluxObject | undefined): boolean {
  return (
    old === undefined ||
    old.metadata.generation !== object.metadata.generation ||
    old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp ||
    old.metadata.annotations?.[REQUESTED_AT] !== object.metadata.annotations?.[REQUESTED_AT]
  );
}
