import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../../shared/gardener/error-codes.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isRefused, KubeError, NotFoundError } from '../../../shared/kube/errors.ts';
import { refusalIn } from '../../../shared/kube/refusal.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { done, type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { isPruningRef, objectRef } from '../objects.ts';
import { type DirectChanges, type DirectDelivery, recordAfter } from '../plan/direct.ts';
import type { Plan } from '../plan/plan.ts';
import { withInstalled } from '../plan/version.ts';
import { type ControlPlane, readSecretNames } from '../read/control-plane.ts';
import { release } from '../release.ts';
import { oldestDeletion, PATIENCE_SECONDS, type Run, retryLater, secondsInFlight, waitOn } from '../run.ts';
import { kindsOf } from '../shoot/kinds.ts';
import { waitFor } from '../wait.ts';
import { applyContents, type Progress } from './apply.ts';
import { explainRejected } from './explain.ts';
import { deleteSurplus, findDeleting, suspendSurplus } from './prune.ts';
import { followRequests } from './requests.ts';
import { isBeingDeleted, NO_KUBECONFIG, NOT_OURS } from './sentences.ts';

/**
 * Delivers a plan where the resource-manager cannot write to Flux's namespace: we apply the same objects to the
 * shoot. Every run applies all of them, which corrects drift and writes nothing where there is none.
 */
export async function deliverDirectly(
  run: Run,
  plan: Plan,
  { changes, isHandingOver }: DirectDelivery,
  { previous, live }: ControlPlane,
): Promise<Outcome> {
  if (live.size > 0) return takeOver(run, plan, changes, live);
  const delivered = await withShoot(run, (shoot) => deliverTo(shoot, run, plan, changes, previous));
  const outcome = delivered ?? (await waitFor(run, NO_KUBECONFIG));
  return isHandingOver && outcome.type === 'done' ? requeueAfter(2) : outcome;
}

/** Releases the ManagedResources first, so that the resource-manager and we never write the same objects. */
async function takeOver(
  run: Run,
  plan: Plan,
  changes: DirectChanges,
  live: ReadonlyMap<string, ManagedResource>,
): Promise<Outcome> {
  await recordPlan(run, plan, changes);
  for (const resource of live.values()) await release(run.seed, resource);
  return waitOn(run, oldestDeletion(live.values()), 2);
}

/**
 * Records the plan before the first write: whatever happens next, a later run knows what may be in the shoot. A reported
 * error of the same plan stays until the shoot has accepted it or gardenlet asks again.
 */
async function recordPlan(run: Run, { record }: Plan, { recordBefore, isRepeated }: DirectChanges): Promise<void> {
  const { reporter, isNewlyAsked } = run;
  const hasFailed = reporter.current().status?.lastOperation?.state === 'Error';
  const description = `Applying Flux ${record.fluxVersion} and its configuration to the shoot.`;
  if (hasFailed && isRepeated && !isNewlyAsked) await reporter.record(recordBefore);
  else await reporter.processing(description, { applied: recordBefore });
  await reporter.accept();
}

async function deliverTo(
  shoot: KubeClient,
  run: Run,
  plan: Plan,
  changes: DirectChanges,
  previous: Applied | undefined,
): Promise<Outcome> {
  const { reporter, isNewlyAsked, isTimeUp } = run;
  const { recordBefore, isUpToDate, alreadyApplied, surplus } = changes;
  const kinds = kindsOf(plan.fluxRelease);
  let progress: Progress = { delivered: { ...recordBefore.delivered }, arrived: alreadyApplied };
  try {
    // Applied while it is being deleted, it would lose its `suspend`, and Flux would delete its workloads before it
    // removes the finalizer.
    const pruning = (plan.contents.get(names.sync) ?? []).filter((object) => isPruningRef(objectRef(object)));
    const deleting = await findDeleting(shoot, pruning, kinds);
    if (deleting !== undefined) await reporter.record(recordBefore);
    else if (!isUpToDate || isNewlyAsked) await recordPlan(run, plan, changes);

    // While an object is being deleted, the controllers have to be there to remove its finalizer.
    const applicable = deleting === undefined ? plan : withoutSync(plan);
    for await (const step of applyContents(shoot, applicable, kinds, progress, isTimeUp)) progress = step;
    if (progress.arrived < countOf(applicable)) {
      await reporter.record({ ...recordBefore, ...progress });
      return requeueAfter(1);
    }
    if (deleting !== undefined) return await waitFor(run, isBeingDeleted(deleting));

    // Only now the shoot serves all kinds of this release; before, a kind that is not served would look like "gone".
    await suspendSurplus(shoot, surplus, kinds);
    const { remaining, foreign } = await deleteSurplus(shoot, surplus, kinds);
    for (const object of foreign) run.context.log.warn('object left in the shoot', { object, error: NOT_OURS });
    return await reportApplied(run, plan, previous, remaining);
  } catch (error) {
    return reportRejection(run, error, { ...recordBefore, delivered: progress.delivered, arrived: undefined });
  }
}

function withoutSync(plan: Plan): Plan {
  const others = [...plan.contents].filter(([name]) => name !== names.sync);
  return { ...plan, contents: new Map(others) };
}

function countOf({ contents }: Plan): number {
  return [...contents.values()].reduce((sum, objects) => sum + objects.length, 0);
}

/** Reports success, and deletes the content Secrets that a former delivery by ManagedResource has left. */
async function reportApplied(
  run: Run,
  plan: Plan,
  previous: Applied | undefined,
  remaining: string[],
): Promise<Outcome> {
  const { reporter, seed, namespace } = run;
  const followed = await followRequests(run, plan, withInstalled(recordAfter(plan, previous, remaining)));
  const { applied } = followed;
  for (const name of await readSecretNames(seed, namespace)) await seed.delete(resources.secrets, { namespace, name });
  const { references } = plan;
  await reporter.succeeded(`Flux ${applied.fluxVersion} and its configuration are applied.`, { applied, references });
  await reporter.finish();
  const isLeft = remaining.length > 0;
  return followed.outcome(isLeft ? waitOn(run, reporter.current().status?.lastOperation?.lastUpdateTime, 5) : done);
}

/**
 * Reports that the shoot rejects an object. For a moment two rejections are normal: the kind is not served yet after
 * its CRD was written, or the namespace is still being deleted after the extension was removed and added again.
 * @param applied the record of what has been applied until now
 * @throws every other error; the run is retried
 */
async function reportRejection(run: Run, error: unknown, applied: Applied): Promise<Outcome> {
  if (!(error instanceof KubeError)) throw error;
  const { message } = error;
  const isMissing = error instanceof NotFoundError;
  const mayPass = isMissing || refusalIn(message)?.kind === 'terminating';
  if (mayPass && secondsInFlight(run) < PATIENCE_SECONDS) {
    // Drift begins an operation as well: without one, the patience would never end.
    if (!run.reporter.isInFlight()) await run.reporter.processing(waitingForShoot(applied), { applied });
    return requeueAfter(2);
  }
  if (!isMissing && !isRefused(error)) throw error;
  await run.reporter.failed(explainRejected(message), [RETRYABLE_CONFIGURATION_PROBLEM], { applied });
  return retryLater(run);
}

const waitingForShoot = ({ fluxVersion }: Applied) =>
  `Applying Flux ${fluxVersion} and its configuration to the shoot again.`;
