import { ShootFluxError } from '../../../shared/errors.ts';
import { extensionOf } from '../../../shared/gardener/read-objects.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { describeError } from '../../../shared/runtime/describe-error.ts';
import type { Outcome } from '../../../shared/runtime/outcome.ts';
import { objectRef } from '../objects.ts';
import type { Plan } from '../plan/plan.ts';
import { withSurplus } from '../plan/surplus.ts';
import type { ControlPlane } from '../read/control-plane.ts';
import type { Run } from '../run.ts';
import { kindsOf } from '../shoot/kinds.ts';
import { waitFor } from '../wait.ts';
import { deliverByManagedResource } from './by-managed-resource.ts';
import { deleteSurplus, findDeleting, suspendSurplus } from './prune.ts';
import { isBeingDeleted, NO_KUBECONFIG, NOT_OURS } from './sentences.ts';

/**
 * Delivers a plan to a control plane whose resource-manager does not know what its predecessor on another seed has
 * applied. The surplus is recorded before the first write, and deleted once everything is applied; until it is gone, each
 * run tries again.
 */
export async function deliverRestored(
  run: Run,
  plan: Plan,
  controlPlane: ControlPlane,
  surplus: string[],
): Promise<Outcome> {
  const { previous } = controlPlane;
  const outcome = await awaitDeletion(run, plan, previous?.surplus ?? []);
  if (outcome !== undefined) return outcome;
  const recorded = { ...plan, record: withSurplus(plan.record, previous, surplus) };
  return deliverByManagedResource(run, recorded, controlPlane, async () => {
    const left = surplus.length === 0 ? [] : await deleteFormer(run, plan, surplus);
    if (left.length === 0) return { record: plan.record, isComplete: true };
    return { record: withSurplus(plan.record, previous, left), isComplete: false };
  });
}

/**
 * Waits for the deletion of objects that the configuration asks for again. Applied before, a Kustomization would lose its
 * `suspend` and delete its workloads, and a source would be missing until the next full pass of the resource-manager.
 * @param former the recorded surplus
 * @returns undefined when nothing that the plan needs is being deleted
 */
async function awaitDeletion(run: Run, plan: Plan, former: string[]): Promise<Outcome | undefined> {
  const returning = [...plan.contents.values()].flat().filter((object) => former.includes(objectRef(object)));
  if (returning.length === 0) return undefined;
  const kinds = kindsOf(plan.fluxRelease);
  const found = await withShoot(run, async (shoot) => ({ deleting: await findDeleting(shoot, returning, kinds) }));
  if (found === undefined) return waitFor(run, NO_KUBECONFIG);
  return found.deleting && waitFor(run, isBeingDeleted(found.deleting));
}

/**
 * Deletes the surplus as the direct delivery does. A shoot that does not answer, or refuses, holds nothing up.
 * @returns the refs of what is still in the shoot
 */
async function deleteFormer(run: Run, { fluxRelease }: Plan, surplus: string[]): Promise<string[]> {
  const { log } = run.context;
  const kinds = kindsOf(fluxRelease);
  // The resource-manager would not notice for an hour that a run which was overtaken has deleted what came back.
  const isDue = async (ref: string) => {
    const extension = await run.seed.find(resources.extensions, run.reporter.current().metadata);
    return (extension && extensionOf(extension))?.status?.state?.applied?.surplus?.includes(ref) === true;
  };
  try {
    const pruned = await withShoot(run, async (shoot) => {
      await suspendSurplus(shoot, surplus, kinds, isDue);
      return deleteSurplus(shoot, surplus, kinds, isDue);
    });
    for (const object of pruned?.foreign ?? []) log.warn('object left in the shoot', { object, error: NOT_OURS });
    return pruned?.remaining ?? surplus;
  } catch (error) {
    if (!(error instanceof ShootFluxError)) throw error;
    log.warn('objects not deleted in the shoot', { error: describeError(error) });
    return surplus;
  }
}
