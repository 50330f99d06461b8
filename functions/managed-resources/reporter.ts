import {
  askedOperation,
  isAnswered,
  isNewlyAsked,
  type OperationReport,
  operationStatus,
  seconds,
} from '../../shared/gardener/operation.ts';
import { extensionOf } from '../../shared/gardener/read-objects.ts';
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
import { secondsSince } from '../../shared/runtime/growing-pause.ts';
import { fieldManager } from './read/control-plane.ts';

/** Reports an operation on its Extension. Every write is guarded by the version that the last read or write returned. */
export interface Reporter {
  /** The Extension as the last write left it. */
  current(): Extension;
  /** True while gardenlet waits for an answer, or one of our own operations has not ended. */
  isInFlight(): boolean;
  /** Seconds since the operation began to fail; 0 while it does not. A request starts it again. */
  failingSeconds(): number;
  processing(description: string, recorded?: Recorded): Promise<void>;
  succeeded(description: string, recorded?: Recorded): Promise<void>;
  failed(description: string, codes: string[], recorded?: Recorded): Promise<void>;
  /** Writes the record alone, without reporting anything about the operation. */
  record(applied: Applied): Promise<void>;
  /** Records that nothing of an adoption that did not come to its end is protected any more. */
  recordUnprotected(): Promise<void>;
  /** Records why the Flux in the shoot is left alone; undefined: it is not, or not any more. */
  recordForeign(sentence: string | undefined): Promise<void>;
  /**
   * Accepts the operation before the work begins: adds our finalizer and removes the annotation `reconcile` (trap 2).
   * Report first: without the annotation, a success that was reported earlier in the same second would count as the
   * answer to this request.
   */
  accept(): Promise<void>;
  /** Ends the operation: as `accept`, and also removes `migrate` and `restore`, which stay until the end (trap 2). */
  finish(): Promise<void>;
  /**
   * Removes our finalizer after a deletion; after a migration all finalizers and, in the same write, the annotation
   * (trap 9).
   */
  removeFinalizers(which: 'own' | 'all'): Promise<void>;
}

/** The Extension and the run that reports on it. */
interface ReporterInputs {
  seed: KubeClient;
  /** As the run has read it. */
  extension: Extension;
  operation: OperationType;
  /** True: the Extension carried a request when it was read. */
  isAsked: boolean;
  /** The Shoot's `spec.resources`. */
  shootResources: readonly ResourceReference[];
  context: Pick<Context, 'now' | 'log'>;
}

/** Creates the reporter of one run. */
export function createReporter(inputs: ReporterInputs): Reporter {
  const { seed, operation, isAsked, shootResources } = inputs;
  const { now, log } = inputs.context;
  let { extension } = inputs;
  const name = { namespace: extension.metadata.namespace, name: extension.metadata.name };

  const patch = async (body: Record<string, unknown>, subresource?: 'status') => {
    const { metadata, ...rest } = body;
    const guarded = {
      ...rest,
      metadata: { ...(metadata as object), resourceVersion: extension.metadata.resourceVersion },
    };
    const options = { fieldManager, ...(subresource === undefined ? {} : { subresource }) };
    extension = extensionOf(await seed.mergePatch(resources.extensions, name, guarded, options));
  };

  const asked = () => askedOperation(extension);
  const isInFlight = () => asked() !== undefined || extension.status?.lastOperation?.state !== 'Succeeded';

  const report = async (
    state: OperationReport['state'],
    description: string,
    recorded: Recorded,
    error?: OperationReport['error'],
  ) => {
    const last = extension.status?.lastOperation;
    // A run without a request confirms the last operation instead of starting another one. A request without an answer
    // still counts: a run may have been killed after it removed the annotation and before it reported anything.
    const isUnasked = !isAsked && !isInFlight() && isAnswered(extension);
    const isConfirmation = isUnasked && state === 'Succeeded' && last !== undefined;
    const type = isConfirmation ? (last.type as OperationType) : operation;
    const status = operationStatus(
      extension,
      { type, state, description, ...(error === undefined ? {} : { error }) },
      now(),
    );
    const isRestarted = status !== undefined && isNewlyAsked(inputs.extension);
    // Gardener cannot save the state of a Shoot that lists a missing copy, so a missing one is removed before a success.
    const listed = extension.status?.resources ?? [];
    const references = mergeDiff(listed, recorded.references ?? stillCopied(listed, shootResources));
    const changes = {
      ...status,
      ...reportChanges(extension, { state, recorded, isRestarted, now: now() }),
      ...(references === undefined ? {} : { resources: references }),
    };
    if (Object.keys(changes).length > 0) await patch({ status: changes }, 'status');
    if (status === undefined) return;
    if (error === undefined) log.info('operation reported', { type, state, description });
    else log.warn('operation reported', { type, state, error: description });
  };

  const acknowledge = async (removesAnnotation: boolean) => {
    const finalizers = extension.metadata.finalizers ?? [];
    const addsFinalizer = !finalizers.includes(FINALIZER) && extension.metadata.deletionTimestamp === undefined;
    if (!addsFinalizer && !removesAnnotation) return;
    await patch({
      metadata: {
        ...(addsFinalizer ? { finalizers: [...finalizers, FINALIZER] } : {}),
        ...(removesAnnotation ? { annotations: { [OPERATION_ANNOTATION]: null } } : {}),
      },
    });
  };

  return {
    current: () => extension,
    isInFlight,
    failingSeconds: () => secondsSince(extension.status?.state?.failingSince, now()),
    processing: (description, recorded = {}) => report('Processing', description, recorded),
    succeeded: (description, recorded = {}) => report('Succeeded', description, recorded),
    failed: (description, codes, recorded = {}) => report('Error', description, recorded, { description, codes }),
    async record(applied) {
      const changes = recordChanges(extension, applied);
      if (Object.keys(changes).length > 0) await patch({ status: changes }, 'status');
    },
    async recordUnprotected() {
      if (extension.status?.state?.adopting !== undefined)
        await patch({ status: { state: { adopting: null } } }, 'status');
    },
    async recordForeign(sentence) {
      if (extension.status?.state?.foreign === sentence) return;
      await patch({ status: { state: { foreign: sentence ?? null } } }, 'status');
    },
    accept: () => acknowledge(asked() === 'reconcile'),
    finish: () => acknowledge(asked() !== undefined),
    async removeFinalizers(which) {
      const finalizers = extension.metadata.finalizers ?? [];
      const rest = which === 'all' ? [] : finalizers.filter((finalizer) => finalizer !== FINALIZER);
      // An Extension that is being deleted is gone once it has no finalizer: nothing can be written after this (trap 8).
      const annotations = which === 'all' && asked() !== undefined ? { [OPERATION_ANNOTATION]: null } : undefined;
      if (rest.length === finalizers.length && annotations === undefined) return;
      await patch({ metadata: { finalizers: rest, ...(annotations && { annotations }) } });
    },
  };
}

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
  /** True: gardenlet or a user has asked again, maybe with the correction, so runs are frequent again. */
  isRestarted: boolean;
}

type State = NonNullable<NonNullable<Extension['status']>['state']>;

/** The changes of a field of `state`: null removes it, undefined leaves it. */
type Change<T> = T | null | undefined;

/** Returns the changes of record, summary and other fields of `state` with a report; empty when all are up to date. */
function reportChanges(extension: Extension, report: Report): Record<string, unknown> {
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
function recordChanges({ status }: Extension, applied: Applied | undefined): Record<string, unknown> {
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
