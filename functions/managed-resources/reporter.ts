import { askedOperation, isAnswered, type OperationReport, operationStatus } from '../../shared/gardener/operation.ts';
import { type ResourceReference, stillCopied } from '../../shared/gardener/references.ts';
import {
  type Applied,
  type Extension,
  FINALIZER,
  OPERATION_ANNOTATION,
  type OperationType,
} from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { mergeDiff } from '../../shared/kube/merge-patch.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { Context } from '../../shared/runtime/context.ts';
import { fieldManager } from './write.ts';

/** What is recorded beside the operation; absent: left as it is. */
export interface Note {
  applied?: Applied | undefined;
  references?: ResourceReference[] | undefined;
}

/** Writes what becomes of an operation to its Extension; every write is guarded by the version that was read. */
export interface Reporter {
  /** The Extension as the last write left it. */
  current(): Extension;
  /** True while gardenlet waits for an answer, or one of our own operations has not ended. */
  inFlight(): boolean;
  processing(description: string, record?: Note): Promise<void>;
  succeeded(description: string, record?: Note): Promise<void>;
  failed(description: string, codes: string[], record?: Note): Promise<void>;
  /** Writes what is recorded beside the operation, and nothing of the operation. */
  record(applied: Applied): Promise<void>;
  /**
   * Takes the operation on: our finalizer is there, the annotation `reconcile` is gone (before the work, trap 2). What is
   * to be reported comes first: without the annotation a former success of the same second would pass for this one's.
   */
  accept(): Promise<void>;
  /** Removes the annotation of whatever was asked: for migrate and restore, which lose it last (trap 2). */
  finish(): Promise<void>;
  /** Own finalizer away after a deletion; after a migration all of them, and the annotation in the same write (trap 9). */
  letGo(which: 'own' | 'all'): Promise<void>;
}

/** @param shootResources the Shoot's `spec.resources` */
export function createReporter(
  seed: KubeClient,
  read: Extension,
  operation: OperationType,
  shootResources: readonly ResourceReference[],
  { now, log }: Pick<Context, 'now' | 'log'>,
): Reporter {
  let extension = read;
  const name = { namespace: read.metadata.namespace, name: read.metadata.name };

  const patch = async (body: Record<string, unknown>, subresource?: 'status') => {
    const { metadata, ...rest } = body;
    const guarded = {
      ...rest,
      metadata: { ...(metadata as object), resourceVersion: extension.metadata.resourceVersion },
    };
    extension = await seed.mergePatch<Extension>(resources.extensions, name, guarded, {
      fieldManager,
      ...(subresource === undefined ? {} : { subresource }),
    });
  };

  const asked = () => askedOperation(extension);
  const wasAsked = asked() !== undefined;
  const inFlight = () => asked() !== undefined || extension.status?.lastOperation?.state !== 'Succeeded';

  const report = async (
    state: OperationReport['state'],
    description: string,
    record: Note,
    error?: OperationReport['error'],
  ) => {
    const last = extension.status?.lastOperation;
    // A run that nobody asked for confirms what the last operation said instead of starting another one. Without an
    // answer somebody did ask: the run that took the annotation away was killed before it said anything.
    const nobodyAsked = !wasAsked && !inFlight() && isAnswered(extension);
    const isConfirmation = nobodyAsked && state === 'Succeeded' && last !== undefined;
    const type = isConfirmation ? (last.type as OperationType) : operation;
    const status = operationStatus(
      extension,
      { type, state, description, ...(error === undefined ? {} : { error }) },
      now(),
    );
    // Gardener cannot save the state of a Shoot with what is listed and gone; this must not wait for a success.
    const listed = extension.status?.resources ?? [];
    const references = mergeDiff(listed, record.references ?? stillCopied(listed, shootResources));
    const changes = {
      ...status,
      ...recordOf(extension, record.applied),
      ...(references === undefined ? {} : { resources: references }),
    };
    if (Object.keys(changes).length > 0) await patch({ status: changes }, 'status');
    if (status === undefined) return;
    if (error === undefined) log.info('operation', { type, state, description });
    else log.warn('operation', { type, state, error: description });
  };

  return {
    current: () => extension,
    inFlight,
    processing: (description, record = {}) => report('Processing', description, record),
    succeeded: (description, record = {}) => report('Succeeded', description, record),
    failed: (description, codes, record = {}) => report('Error', description, record, { description, codes }),
    async record(applied) {
      const changes = recordOf(extension, applied);
      if (Object.keys(changes).length > 0) await patch({ status: changes }, 'status');
    },
    async accept() {
      const finalizers = extension.metadata.finalizers ?? [];
      const addFinalizer = !finalizers.includes(FINALIZER) && extension.metadata.deletionTimestamp === undefined;
      const removeAnnotation = asked() === 'reconcile';
      if (!addFinalizer && !removeAnnotation) return;
      await patch({
        metadata: {
          ...(addFinalizer ? { finalizers: [...finalizers, FINALIZER] } : {}),
          ...(removeAnnotation ? { annotations: { [OPERATION_ANNOTATION]: null } } : {}),
        },
      });
    },
    async finish() {
      if (asked() !== undefined) await patch({ metadata: { annotations: { [OPERATION_ANNOTATION]: null } } });
    },
    async letGo(which) {
      const finalizers = extension.metadata.finalizers ?? [];
      const rest = which === 'all' ? [] : finalizers.filter((finalizer) => finalizer !== FINALIZER);
      // Without finalizers an Extension that is being deleted is gone: there is no write after this one (trap 8).
      const annotations = which === 'all' && asked() !== undefined ? { [OPERATION_ANNOTATION]: null } : undefined;
      if (rest.length === finalizers.length && annotations === undefined) return;
      await patch({ metadata: { finalizers: rest, ...(annotations && { annotations }) } });
    },
  };
}

/** The record, and what people see of it, as far as they differ from what is there. */
function recordOf({ status }: Extension, applied: Applied | undefined): Record<string, unknown> {
  if (applied === undefined) return {};
  const { fluxVersion, syncMode, configHash } = applied;
  const difference = mergeDiff(status?.state?.applied, applied);
  // `flux` beside them is written by another function.
  const { providerStatus } = status ?? {};
  const shown = Object.entries({ fluxVersion, syncMode, configHash }).filter(
    ([field, value]) => providerStatus?.[field] !== value,
  );
  return {
    ...(difference === undefined ? {} : { state: { applied: difference } }),
    ...(shown.length === 0 ? {} : { providerStatus: Object.fromEntries(shown) }),
  };
}
