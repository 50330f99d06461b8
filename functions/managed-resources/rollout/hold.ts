import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../../shared/gardener/error-codes.ts';
import { type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { judge } from '../deliver/judge.ts';
import type { ControlPlane } from '../read/control-plane.ts';
import { type Run, secondsInFlight } from '../run.ts';

/** How an operation ends while a Shoot waits for its turn. */
export const HELD = 'The last applied configuration is kept until the rollout in flux-status reaches this Shoot.';

/**
 * Leaves the last applied objects unchanged. gardenlet gets an answer; without a request nothing is written, because the
 * project sees the rollout in `flux-status`.
 * @param seconds until the next look
 */
export async function hold(run: Run, { previous, live }: ControlPlane, seconds: number): Promise<Outcome> {
  const { reporter, isAsked } = run;
  const outcome = requeueAfter(seconds);
  if (!isAsked && !reporter.isInFlight()) return outcome;
  const written =
    previous === undefined || previous.delivery === 'Direct' ? [] : Object.keys(previous.managedResources);
  // What is applied may have failed already.
  const verdict = await judge(written, live, secondsInFlight(run));
  if (verdict.state === 'failed') {
    await reporter.failed(verdict.message, [RETRYABLE_CONFIGURATION_PROBLEM]);
    await reporter.accept();
    return outcome;
  }
  await reporter.succeeded(HELD);
  await reporter.finish();
  return outcome;
}
