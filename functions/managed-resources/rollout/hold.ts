import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../../shared/gardener/error-codes.ts';
import { isCurrent, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { contentSecretName } from '../../../shared/gardener/managed-resource-content.ts';
import { type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { pauseWhilePending, writeContent, writeManagedResource } from '../deliver/by-managed-resource.ts';
import { judge } from '../deliver/judge.ts';
import { retryApply, retryWebhook } from '../deliver/retry.ts';
import type { Plan } from '../plan/plan.ts';
import { rotatedCopies } from '../plan/project-copies.ts';
import { type ControlPlane, readContent } from '../read/control-plane.ts';
import { type Run, secondsInFlight } from '../run.ts';

/** What an operation waits for in the meantime. */
const REAPPLYING =
  'Applying the last configuration, which is kept until the rollout in flux-status reaches this Shoot.';

/** How an operation ends while a Shoot waits for its turn. */
export const HELD = 'The last applied configuration is kept until the rollout in flux-status reaches this Shoot.';

/**
 * Leaves the last applied objects unchanged, except for rotated Secrets of the project. gardenlet gets an answer, and what
 * fails is reported, as in a Shoot that does not wait. Nothing else is written: the project sees the rollout in
 * `flux-status`.
 * @param seconds until the next look
 * @param problem what a person has to do for the rollout to go on, which `readiness` publishes
 */
export async function hold(
  run: Run,
  plan: Plan,
  controlPlane: ControlPlane,
  seconds: number,
  problem = plan.record.problem,
): Promise<Outcome> {
  const { previous, live } = controlPlane;
  // Its deletion policy may be a new one, and an older problem solved.
  if (previous !== undefined) await run.reporter.record({ ...previous, problem });
  await deliverRotated(run, plan, controlPlane);
  const { reporter, seed, namespace, isAsked, isNewlyAsked } = run;
  const outcome = requeueAfter(seconds);
  const verdict = judge(Object.keys(previous?.managedResources ?? {}), live, secondsInFlight(run));
  await retryWebhook(seed, namespace, live);
  if (isNewlyAsked) await retryApply(seed, [...live.values()]);
  // A failure without a request starts an operation, so that its age counts from here.
  if (verdict.state === 'struggling' || (verdict.state === 'pending' && reporter.isInFlight())) {
    await reporter.processing(REAPPLYING);
    await reporter.accept();
    const again = verdict.state === 'struggling' ? verdict.recheckInSeconds : pauseWhilePending(run);
    return requeueAfter(Math.min(seconds, again));
  }
  if (verdict.state === 'failed') {
    await reporter.failed(verdict.message, [RETRYABLE_CONFIGURATION_PROBLEM]);
    await reporter.accept();
    return outcome;
  }
  if (!isAsked && !reporter.isInFlight()) return outcome;
  await reporter.succeeded(HELD);
  await reporter.finish();
  return outcome;
}

/**
 * Delivers rotated Secrets of the project to a Shoot that keeps its configuration. The control plane says what the shoot
 * has, not the record: a run that was killed after it had recorded the rotation is repeated.
 */
async function deliverRotated(run: Run, plan: Plan, { previous, live }: ControlPlane): Promise<void> {
  const { reporter, seed, namespace } = run;
  const name = names.secrets;
  const resource = live.get(name);
  if (resource === undefined || resource.metadata.deletionTimestamp !== undefined) return;
  if (previous?.projectCopies === undefined) return;
  if (isCurrent(resource, plan.record.managedResources[name] ?? '')) return;
  const content = await readContent(run, resource);
  if (content === undefined) return;
  const next = { objects: plan.contents.get(name) ?? [], ofProject: plan.record.projectCopies ?? [] };
  const objects = rotatedCopies({ objects: content, ofProject: previous.projectCopies }, next);
  if (objects === undefined) return;
  const secretName = contentSecretName(name, objects);
  await reporter.record({ ...previous, managedResources: { ...previous.managedResources, [name]: secretName } });
  await writeContent(seed, namespace, name, objects);
  await writeManagedResource(seed, namespace, name, secretName, resource);
}
