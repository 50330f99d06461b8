import type { Applied } from '../../../shared/gardener/types.ts';
import { type Outcome, sooner } from '../../../shared/runtime/outcome.ts';
import type { Plan } from '../plan/plan.ts';
import { type Run, waitOn } from '../run.ts';

/** A record in which requests are noted that have been carried out, and when to try the others again. */
export interface Followed {
  applied: Applied;
  /** How the run ends, given how it would end otherwise. */
  outcome(otherwise: Outcome): Outcome;
}

/**
 * Asks Flux in the shoot to take up rotated Secrets and to follow requests of users, once everything is applied. The
 * record comes after it: a run that is killed in between asks again with the same value, which changes nothing.
 */
export async function followRequests(run: Run, plan: Plan, applied: Applied): Promise<Followed> {
  if (plan.requests === undefined) return { applied, outcome: (otherwise) => otherwise };
  // Rare: a rotation, or a user who waits.
  const { requestReconciliation } = await import('../shoot/request.ts');
  const isDone = await requestReconciliation(run, plan);
  if (isDone) return { applied: { ...applied, ...plan.requests }, outcome: (otherwise) => otherwise };
  const again = () => waitOn(run, run.reporter.current().status?.lastOperation?.lastUpdateTime, 10);
  return { applied, outcome: (otherwise) => sooner(otherwise, again()) };
}
