import {
  askedOperation,
  isAnswered,
  type OperationReport,
  operationStatus,
  RETRYABLE_CONFIGURATION_PROBLEM,
  seconds,
} from '../../shared/gardener/operation.ts';
import { extensionOf } from '../../shared/gardener/read-objects.ts';
import { type ResourceReference, stillCopied } from '../../shared/gardener/references.ts';
import type { ExtensionState } from '../../shared/gardener/state.ts';
import { type Extension, FINALIZER, OPERATION_ANNOTATION, type OperationType } from '../../shared/gardener/types.ts';
import { mergeDiff } from '../../shared/kube/merge-patch.ts';
import { resources } from '../../shared/kube/resource.ts';
import { secondsSince } from '../../shared/runtime/growing-pause.ts';
import { fieldManager } from './read/control-plane.ts';
import type { Start } from './run.ts';

/** What a report records in the same write; a field that is absent stays unchanged. */
export interface Recorded extends Pick<ExtensionState, 'applied' | 'upgradingTo' | 'adopting'> {
  references?: ResourceReference[] | undefined;
  /** True: the error is about a configuration that is not applied. */
  isUnapplied?: boolean | undefined;
}

export type Reporter = ReturnType<typeof createReporter>;

/** Reports an operation on its Extension. Every write is guarded by the version that the last read or write returned. */
export function createReporter({ seed, operation, isAsked, isNewlyAsked, cluster, context }: Start, read: Extension) {
  const { now, log } = context;
  let extension = read;
  const name = { namespace: extension.metadata.namespace, name: extension.metadata.name };

  const patch = async ({ metadata, status }: { metadata?: object; status?: object }) => {
    const body = { metadata: { ...metadata, resourceVersion: extension.metadata.resourceVersion }, status };
    const options = { fieldManager, ...(status !== undefined && { subresource: 'status' as const }) };
    extension = extensionOf(await seed.mergePatch(resources.extensions, name, body, options));
  };
  const patchStatus = async (status: object) => {
    if (Object.values(status).some((field) => field !== undefined)) await patch({ status });
  };

  const asked = () => askedOperation(extension);
  const isInFlight = () => asked() !== undefined || extension.status?.lastOperation?.state !== 'Succeeded';

  const report = async (
    state: OperationReport['state'],
    description: string,
    recorded: Recorded = {},
    error?: OperationReport['error'],
  ) => {
    const last = extension.status?.lastOperation;
    // A run without a request confirms the last operation instead of starting another one. A request without an answer
    // still counts: a run may have been killed after it removed the annotation and before it reported anything.
    const isUnasked = !isAsked && !isInFlight() && isAnswered(extension);
    const type = isUnasked && state === 'Succeeded' && last !== undefined ? (last.type as OperationType) : operation;
    const status = operationStatus(extension, { type, state, description, ...(error && { error }) }, now());
    // Asked again, maybe with the correction, runs are frequent again.
    const isRestarted = status !== undefined && isNewlyAsked;
    // Gardener cannot save the state of a Shoot that lists a missing copy, so a missing one is removed before a success.
    const listed = extension.status?.resources ?? [];
    const kept = stillCopied(listed, cluster.spec.shoot.spec?.resources ?? []);
    const references = mergeDiff(listed, recorded.references ?? kept);
    const next = stateAfter(extension.status?.state, state, recorded, isRestarted, now());
    await patchStatus({ ...status, ...stateChanges(extension, next), resources: references });
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
        ...(addsFinalizer && { finalizers: [...finalizers, FINALIZER] }),
        ...(removesAnnotation && { annotations: { [OPERATION_ANNOTATION]: null } }),
      },
    });
  };

  return {
    /** The Extension as the last write left it. */
    current: () => extension,
    /** True while gardenlet waits for an answer, or one of our own operations has not ended. */
    isInFlight,
    /** Seconds since the operation began to fail; 0 while it does not. A request starts it again. */
    failingSeconds: () => secondsSince(extension.status?.state?.failingSince, now()),
    processing: (description: string, recorded?: Recorded) => report('Processing', description, recorded),
    succeeded: (description: string, recorded?: Recorded) => report('Succeeded', description, recorded),
    failed: (description: string, recorded?: Recorded, codes = [RETRYABLE_CONFIGURATION_PROBLEM]) =>
      report('Error', description, recorded, { description, codes }),
    /** Writes these fields of the state alone, without reporting anything about the operation; undefined removes one. */
    record: (fields: Pick<ExtensionState, 'applied' | 'adopting' | 'foreign'>) =>
      patchStatus(stateChanges(extension, fields)),
    /**
     * Accepts the operation before the work begins: adds our finalizer and removes the annotation `reconcile` (trap 2).
     * Report first: a success of the same second would count as the answer to this request.
     */
    accept: () => acknowledge(asked() === 'reconcile'),
    /** Ends the operation: as `accept`, and also removes `migrate` and `restore`, which stay until the end (trap 2). */
    finish: () => acknowledge(asked() !== undefined),
    /**
     * Removes our finalizer after a deletion; after a migration all finalizers, and the annotation in the same write
     * (trap 9). Nothing can be written after this (trap 8).
     */
    async removeFinalizers(which: 'own' | 'all') {
      const finalizers = extension.metadata.finalizers ?? [];
      const rest = which === 'all' ? [] : finalizers.filter((finalizer) => finalizer !== FINALIZER);
      const annotations = which === 'all' && asked() !== undefined ? { [OPERATION_ANNOTATION]: null } : undefined;
      if (rest.length === finalizers.length && annotations === undefined) return;
      await patch({ metadata: { finalizers: rest, ...(annotations && { annotations }) } });
    },
  };
}

/** Returns the fields of the state that a report decides; undefined removes one. */
function stateAfter(
  before: ExtensionState = {},
  state: OperationReport['state'],
  recorded: Recorded,
  isRestarted: boolean,
  now: Date,
): ExtensionState {
  const { applied } = recorded;
  const hasUpgraded = state === 'Succeeded' || applied?.fluxVersion === before.upgradingTo;
  const always = {
    ...(applied && { applied }),
    upgradingTo: recorded.upgradingTo ?? (hasUpgraded ? undefined : before.upgradingTo),
    adopting: recorded.adopting ?? (applied?.protected === true ? undefined : before.adopting),
  };
  if (state === 'Processing') return always;
  const since = isRestarted ? undefined : before.failingSince;
  // Without a rollout there is no revision.
  const { revision, landscape } = before.applied ?? {};
  const isUnapplied = recorded.isUnapplied === true && (revision ?? landscape) !== undefined;
  return {
    ...always,
    failingSince: state === 'Succeeded' ? undefined : (since ?? seconds(now.getTime())),
    unapplied: isUnapplied ? true : undefined,
  };
}

/** Returns the merge patches of these fields of the state, and of the summary of the record; undefined: none differs. */
function stateChanges({ status }: Extension, fields: ExtensionState): Record<string, unknown> {
  const { state = {}, providerStatus = {} } = status ?? {};
  const { fluxVersion, syncMode, configHash, warnings } = fields.applied ?? providerStatus;
  // `readiness` writes `providerStatus.flux`, beside these four.
  const summary = { ...providerStatus, fluxVersion, syncMode, configHash, warnings };
  return { state: mergeDiff(state, { ...state, ...fields }), providerStatus: mergeDiff(providerStatus, summary) };
}
