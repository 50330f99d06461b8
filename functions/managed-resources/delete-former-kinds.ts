import { ShootFluxError } from '../../shared/errors.ts';
import { seconds } from '../../shared/gardener/operation.ts';
import { withShoot } from '../../shared/gardener/shoot-client.ts';
import type { Applied } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isRefused, KubeError } from '../../shared/kube/errors.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { secondsSince } from '../../shared/runtime/growing-pause.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { keepKinds } from './keep-kinds.ts';
import { notifyShoot } from './notify-shoot.ts';
import { parseRef } from './objects.ts';
import { crdsToDelete, formerControllers } from './plan/deleted-kinds.ts';
import type { Plan } from './plan/plan.ts';
import { withoutObjects } from './plan/without-objects.ts';
import { type Run, waitOn } from './run.ts';
import { removeProtection } from './shoot/remove-protection.ts';
import { deleteCrds, servingDeployment, sortCrds } from './uninstall/former-kinds.ts';
import { isAnyComponentAtWork } from './uninstall/pods.ts';

/** An object with a finalizer of others may stay for days; a controller stops within seconds. */
const SHORTEST_SECONDS = 2;

/** A Deployment that is still there after this time is not on its way out. */
const DEPLOYMENT_PATIENCE_SECONDS = 300;

/**
 * Deletes the kinds of components that are not installed any more, where the configuration asks for it (decision 64). The
 * controllers are gone before, so none of them sees its objects being deleted. Kinds that are kept after all, or are in use
 * again, get their objects back as they were.
 * @param isAsked true where the configuration asks for it
 * @returns done when nothing is left to do
 */
export async function settleFormerKinds(run: Run, plan: Plan, isAsked: boolean): Promise<Outcome> {
  const crds = isAsked ? crdsToDelete(plan) : [];
  if (crds.length === 0 && plan.record.deletingKinds === undefined) return done;
  try {
    const settled = await withShoot(run, async (shoot) => {
      if (!(await keepKinds(shoot, run, plan, crds))) return wait(run);
      return crds.length === 0 ? done : deleteIn(shoot, run, plan, crds);
    });
    // Without a kubeconfig nothing has happened.
    return settled ?? wait(run, 5);
  } catch (error) {
    // The installation is complete; what is left over must not fail it.
    if (!(error instanceof ShootFluxError)) throw error;
    run.context.log.warn('kinds of removed components not deleted', { error: describeError(error) });
    if (error instanceof KubeError && isRefused(error)) await reportRefused(run, crds, error);
    return wait(run, 5);
  }
}

async function deleteIn(shoot: KubeClient, run: Run, plan: Plan, crds: string[]): Promise<Outcome> {
  const { ours, foreign } = await sortCrds(shoot, crds);
  for (const object of foreign) run.context.log.warn('object left in the shoot', { object, error: NOT_OURS });
  if (ours.length > 0) {
    if (await isServed(shoot, run, plan, crds)) return wait(run);
    // The same sentence in each run, so that it stays one Event.
    await notifyShoot(run, deletedEvent(crds.filter((ref) => !foreign.includes(ref))));
    await recordBegin(run, ours);
    const areGone = await deleteCrds(shoot, ours, run.isTimeUp);
    if (!areGone) return run.isTimeUp() ? requeueAfter(1) : wait(run);
  }
  // The tool that manages them now could not change them, and the record is about to lose their names.
  if (foreign.length > 0 && !(await removeProtection(shoot, foreign, run))) return requeueAfter(1);
  await forget(run, crds);
  return done;
}

const NOT_OURS = 'another tool manages it now';

/** True while a controller may act on the objects: one that saw them being deleted would delete what they have deployed. */
async function isServed(shoot: KubeClient, run: Run, plan: Plan, crds: string[]): Promise<boolean> {
  const { namespace } = plan.record;
  const controllers = formerControllers(crds, plan);
  const deployment = await servingDeployment(shoot, namespace, controllers);
  if (deployment === undefined) return isAnyComponentAtWork(shoot, namespace, controllers, run.context.now());
  if (secondsSince(sinceReport(run), run.context.now()) > DEPLOYMENT_PATIENCE_SECONDS) {
    await reportStaying(
      run,
      crds,
      `Deployment ${deployment} is in the shoot`,
      'delete the Deployment if nothing needs it, or set removedComponents to Keep.',
    );
  }
  return true;
}

/** Recorded before the first request, so that a configuration which keeps the kinds after all can restore their objects. */
async function recordBegin(run: Run, crds: string[]): Promise<void> {
  const applied = recordOf(run);
  if (applied === undefined) return;
  const { since = seconds(run.context.now().getTime()), crds: begun = [] } = applied.deletingKinds ?? {};
  await run.reporter.record({ ...applied, deletingKinds: { since, crds: [...new Set([...begun, ...crds])] } });
}

/** No later run looks for these CRDs again, or deletes them should the user create them. */
async function forget(run: Run, refs: string[]): Promise<void> {
  const applied = recordOf(run);
  if (applied === undefined) return;
  const { deletingKinds: _, ...rest } = applied;
  await run.reporter.record(withoutObjects(rest, refs));
}

function deletedEvent(refs: string[]) {
  const message = `As removedComponents of the configuration says, these CustomResourceDefinitions of removed components are deleted from the shoot, with all objects of their kinds: ${namesOf(refs)}. The workloads of these objects stay.`;
  return { type: 'Normal', reason: 'FluxKindsDeleted', message } as const;
}

async function reportRefused(run: Run, crds: string[], error: KubeError): Promise<void> {
  const remedy = `exempt them and the objects of their kinds from the webhook or policy that rejects it, or set removedComponents to Keep. The API server says: ${describeError(error)}`;
  await reportStaying(run, crds, 'the shoot rejects a change that this needs', remedy);
}

async function reportStaying(run: Run, crds: string[], why: string, remedy: string): Promise<void> {
  if (crds.length === 0) return;
  const message = `removedComponents is Delete, but ${why}, so these CustomResourceDefinitions of removed components are not deleted: ${namesOf(crds)}; ${remedy}`;
  await notifyShoot(run, { type: 'Warning', reason: 'FluxKindsStay', message });
}

function namesOf(refs: string[]): string {
  return refs
    .map((ref) => parseRef(ref).name.name)
    .sort()
    .join(', ');
}

function recordOf({ reporter }: Run): Applied | undefined {
  return reporter.current().status?.state?.applied;
}

/** The next look, ever more rarely while nothing changes. */
function wait(run: Run, shortest = SHORTEST_SECONDS): Outcome {
  return waitOn(run, recordOf(run)?.deletingKinds?.since ?? sinceReport(run), shortest);
}

function sinceReport({ reporter }: Run): string | undefined {
  return reporter.current().status?.lastOperation?.lastUpdateTime;
}
