import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../../shared/gardener/error-codes.ts';
import { type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { pauseWhilePending } from '../deliver/by-managed-resource.ts';
import { judge } from '../deliver/judge.ts';
import { retryApply, retryWebhook } from '../deliver/retry.ts';
import type { Plan } from '../plan/plan.ts';
import type { ControlPlane } from '../read/control-plane.ts';
import { type Run, secondsInFlight } from '../run.ts';
import { deliverRotated } from './rotate.ts';

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
  const written =
    previous === undefined || previous.delivery === 'Direct' ? [] : Object.keys(previous.managedResources);
  const verdict = await judge(written, live, secondsInFlight(run));
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
