import type { Cluster, OperationType } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import type { Context } from '../../shared/runtime/context.ts';
import { growingPause, secondsSince } from '../../shared/runtime/growing-pause.ts';
import { type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import type { Recorded, Reporter } from './reporter.ts';

/** What one execution of this function for one Extension begins with. */
export interface Start {
  context: Context;
  seed: KubeClient;
  seedName: string;
  /** The control-plane namespace. */
  namespace: string;
  cluster: Cluster;
  operation: OperationType;
  /** True: when the run began, the Extension carried a request of gardenlet or of a user. */
  isAsked: boolean;
  /** True: when the run began, nothing had been reported about that request yet. */
  isNewlyAsked: boolean;
  /** True when the run should end and leave the rest of its work to the next one. */
  isTimeUp(): boolean;
}

/** One execution of this function. */
export interface Run extends Start {
  /** Holds the Extension as the last write left it. `ControlPlane` has the record of the run before. */
  reporter: Reporter;
}

/** An operation fails only after this time: a first attempt may fail, and what it needs may lag. */
export const PATIENCE_SECONDS = 20;

/** How long the operation in flight has been running; an error that was reported already gets no more patience. */
export function secondsInFlight({ reporter, context }: Run): number {
  const last = reporter.current().status?.lastOperation;
  if (last?.state === 'Error') return Number.POSITIVE_INFINITY;
  return last?.state === 'Processing' ? (context.now().getTime() - Date.parse(last.lastUpdateTime)) / 1000 : 0;
}

/** Ends a run whose operation fails: the next run follows, ever more rarely, unless an event or a request comes first. */
export function retryLater({ reporter }: Run): Outcome {
  return requeueAfter(growingPause(reporter.failingSeconds(), 60));
}

/** Ends a run that waits for something to finish which no event may report, and which began so long ago. */
export function waitOn({ context }: Run, since: string | undefined, shortest: number): Outcome {
  return requeueAfter(growingPause(secondsSince(since, context.now()), shortest));
}

/** The earliest time at which the deletion of one of these objects was asked for. */
export function oldestDeletion(objects: Iterable<KubeObject>): string | undefined {
  return [...objects].flatMap(({ metadata }) => metadata.deletionTimestamp ?? []).sort()[0];
}

/** Ends a run that lacks something which may still come, such as a copy; it is an error only when it takes long. */
export async function waitFor(run: Run, sentence: string, recorded: Recorded = {}): Promise<Outcome> {
  const { reporter, isNewlyAsked } = run;
  const { lastOperation: last, lastError } = reporter.current().status ?? {};
  if (!isNewlyAsked && last?.state === 'Error' && lastError?.description === sentence) return retryLater(run);
  const isWaiting = !isNewlyAsked && last?.state === 'Processing' && last.description === sentence;
  const waited = isWaiting ? secondsInFlight(run) : 0;
  if (!isWaiting) await reporter.processing(sentence);
  // Also where it was reported before: the run that did so may have been killed right after.
  await reporter.accept();
  if (waited >= PATIENCE_SECONDS) {
    await reporter.failed(sentence, recorded);
    return retryLater(run);
  }
  return requeueAfter(5);
}

/**
 * True when nothing but its ManagedResources has woken a run, beside its own recheck. Such a run may leave out what
 * others are certain to do: those for a request, an edit, a Secret of the project, and the hourly resync (decision 65).
 */
export function isWokenByApplying({
  context,
  isAsked,
}: Pick<Run, 'isAsked'> & { context: { causes: readonly Cause[] } }): boolean {
  const { causes } = context;
  if (isAsked || !causes.some(isOfManagedResource)) return false;
  // With attempts, it is the retry of a run that may have had any cause.
  return causes.every(
    (cause) => isOfManagedResource(cause) || (cause.type === 'notBefore' && cause.attempt === undefined),
  );
}

function isOfManagedResource(cause: Cause): boolean {
  return cause.type === 'object' && cause.kind === resources.managedResources.kind;
}
