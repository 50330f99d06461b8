import { type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { deliverByManagedResource, pauseWhilePending } from './deliver/deliver.ts';
import { isStillApplying } from './deliver/judge.ts';
import { withNextCheck } from './deliver/next-check.ts';
import { deliverRestored, surplusOf } from './deliver/restored.ts';
import { reportHibernated, reportObstacle, takeOver } from './endings.ts';
import { makePlan, type Plan } from './plan/plan.ts';
import { updateScope } from './plan/scope.ts';
import { type Configuration, readConfiguration, readLayers, withWrittenPolicy } from './read/configuration.ts';
import { type ControlPlane, readControlPlane } from './read/control-plane.ts';
import { readPlanParts } from './read/plan-parts.ts';
import { endRollout, waitForTurn } from './rollout/rollout.ts';
import { isWokenByApplying, type Run } from './run.ts';
import { adoptForeignFlux } from './shoot/adopt.ts';
import { migrateStoredObjects } from './shoot/migrate-stored.ts';
import { removeLeftProtection, unlessLeftProtected } from './shoot/protection.ts';
import { announceUpgrade, announceWarnings } from './shoot-events.ts';

/**
 * Handles Create, Reconcile and Restore: reads, plans, and delivers. Each step that ends the run returns its outcome.
 * Each delivery records the plan before its first write and reports at the end. Nothing in here waits.
 */
export async function reconcile(run: Run): Promise<Outcome> {
  if (run.cluster.spec.shoot.spec?.hibernation?.enabled === true) return reportHibernated(run);

  // What the control plane has.
  const live = await readControlPlane(run);
  if (live.legacy.length > 0) return takeOver(run, live.legacy);
  const { lastOperation } = run.reporter.current().status ?? {};
  if (isWokenByApplying(run) && isStillApplying(live, lastOperation)) {
    return requeueAfter(pauseWhilePending(run));
  }
  const unprotected = await removeLeftProtection(run, live);

  // What users ask for.
  const layers = await readLayers(run);
  const controlPlane = withWrittenPolicy(unprotected, layers);
  const configuration = await readConfiguration(run, controlPlane, layers);
  const rolloutEnd = await endRollout(run, controlPlane, configuration, layers);
  if (rolloutEnd !== undefined) return rolloutEnd;
  if (configuration.type !== 'configuration') return reportObstacle(run, controlPlane, configuration, layers);
  const parts = await readPlanParts(run, controlPlane, configuration);
  if (parts.type !== 'plan parts') return reportObstacle(run, controlPlane, parts, layers);

  // What the Shoot should get.
  const plan = makePlan(parts.inputs, parts.rendered, parts.synced);

  // What has to happen before it is delivered.
  const waiting = await waitForTurn(run, plan, controlPlane, layers.rollout);
  if (waiting !== undefined) return waiting;
  const adopting = await adoptForeignFlux(run, plan, parts);
  if (adopting !== undefined) return adopting;
  await announceUpgrade(run, plan, controlPlane.previous?.fluxVersion ?? parts.liveVersion);
  const migrating = await migrateStoredObjects(run, plan, controlPlane, parts.liveVersion);
  if (migrating !== undefined) return migrating;
  await announceWarnings(run, plan, controlPlane.previous);

  // The delivery, and what it leaves to the next run.
  const surplus = surplusOf(plan, controlPlane, run.operation);
  const outcome =
    surplus === undefined
      ? await deliverByManagedResource(run, plan, controlPlane)
      : await deliverRestored(run, plan, controlPlane, surplus);
  if (releasesMoreNext(plan, controlPlane, configuration, outcome)) return requeueAfter(1);
  return unlessLeftProtected(run, live, withNextCheck(run, plan, outcome));
}

/** True when the record no longer names objects that are pending removal: the next run releases the rest. */
function releasesMoreNext(
  { record }: Plan,
  { isBootstrapped }: ControlPlane,
  { scope }: Configuration,
  { type }: Outcome,
): boolean {
  return type === 'done' && scope.sync && !updateScope(record.syncMode, isBootstrapped, record).sync;
}
