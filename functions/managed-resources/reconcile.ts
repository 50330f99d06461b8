import { managedResourceNames as names } from '../../shared/gardener/managed-resource.ts';
import { done, type Outcome, requeueAfter, sooner } from '../../shared/runtime/outcome.ts';
import { deliverByManagedResource, pauseWhilePending } from './deliver/by-managed-resource.ts';
import { withNextCheck } from './deliver/next-check.ts';
import { isStillApplying } from './deliver/still-applying.ts';
import { isNewsOfApplying } from './news.ts';
import { planDelivery } from './plan/direct.ts';
import { mayDropVersions } from './plan/dropped-versions.ts';
import { formerCrds } from './plan/former-crds.ts';
import type { Obstacle } from './plan/obstacle.ts';
import type { Plan } from './plan/plan.ts';
import { isLeftProtected } from './plan/protection.ts';
import { updateScope } from './plan/scope.ts';
import { surplusOf } from './plan/surplus.ts';
import {
  type Configuration,
  type Layers,
  readConfiguration,
  readLayers,
  withWrittenPolicy,
} from './read/configuration.ts';
import { type ControlPlane, readControlPlane } from './read/control-plane.ts';
import { needsTurn } from './rollout/needs-turn.ts';
import { oldestDeletion, type Run, waitOn } from './run.ts';

/**
 * Handles Create, Reconcile and Restore: reads, decides the scope, plans, and delivers the plan. Each delivery records
 * the plan before its first write and reports at the end. Nothing in here waits.
 */
export async function reconcile(run: Run): Promise<Outcome> {
  if (run.cluster.spec.shoot.spec?.hibernation?.enabled === true) return (await endings()).reportHibernated(run);

  const live = await readControlPlane(run);
  if (live.legacy.length > 0) return (await endings()).takeOver(run, live.legacy);
  const { lastOperation } = run.reporter.current().status ?? {};
  if (isNewsOfApplying(run) && isStillApplying({ ...live, lastOperation })) return requeueAfter(pauseWhilePending(run));
  const found = await withoutLeftProtection(run, live);

  const layers = await readLayers(run);
  const controlPlane = withWrittenPolicy(found, layers);
  const configuration = await readConfiguration(run, controlPlane, layers);
  if (isWithoutRollout(controlPlane, configuration, layers)) {
    const outcome = await (await import('./on-demand.ts')).endRollout(run);
    if (outcome !== undefined) return outcome;
  }
  if (configuration.type !== 'configuration')
    return (await endings()).reportObstacle(run, controlPlane, configuration, layers);
  const { makePlan, readPlanParts } = await import('./planning.ts');
  const parts = await readPlanParts(run, controlPlane, configuration);
  if (parts.type !== 'plan parts') return (await endings()).reportObstacle(run, controlPlane, parts, layers);

  const plan = makePlan(parts.inputs, parts.rendered, parts.synced);
  const deletesKinds = configuration.config.flux.removedComponents === 'Delete' && formerCrds(plan).length > 0;
  if (layers.rollout !== undefined && needsTurn({ plan, deletesKinds, operation: run.operation, ...controlPlane })) {
    const outcome = await (await import('./on-demand.ts')).waitForTurn(run, plan, controlPlane, layers.rollout);
    if (outcome !== undefined) return outcome;
  }
  const { liveVersion, isForeign } = parts;
  if (isForeign && plan.contents.has(names.crds)) {
    const outcome = await (await import('./on-demand.ts')).adopt(run, plan);
    if (outcome !== undefined) return outcome;
  }
  await run.reporter.recordForeign(undefined);
  const installed = controlPlane.previous?.fluxVersion ?? liveVersion;
  if (installed !== undefined && installed !== plan.record.fluxVersion && plan.contents.has(names.crds)) {
    await (await import('./on-demand.ts')).announceUpgrade(run, installed, plan);
  }
  const { upgradingTo } = run.reporter.current().status?.state ?? {};
  if (mayDropVersions({ plan, liveVersion, upgradingTo, ...controlPlane })) {
    const outcome = await (await import('./on-demand.ts')).migrateStoredObjects(run, plan, controlPlane);
    if (outcome !== undefined) return outcome;
  }
  const { warnings } = plan.record;
  if (warnings !== undefined) {
    await (await import('./on-demand.ts')).notifyWarnings(run, warnings, controlPlane.previous?.warnings);
  }
  const delivery = planDelivery(run.context.settings.delivery, plan, controlPlane);
  const outcome = await deliver(run, plan, delivery, controlPlane);
  const settled = await settleKinds(run, plan, deletesKinds, outcome);
  // The record no longer names objects that are pending removal: the next run releases the rest.
  const scope = updateScope(plan.record.syncMode, controlPlane.isBootstrapped, plan.record);
  const isNarrower = outcome.type === 'done' && configuration.scope.sync && !scope.sync;
  if (isNarrower) return requeueAfter(1);
  return sooner(settled, unlessLeftProtected(run, live, withNextCheck(run, plan, outcome)));
}

/** Most Shoots are neither delivered to directly nor just restored: that code is loaded on demand. */
async function deliver(
  run: Run,
  plan: Plan,
  delivery: ReturnType<typeof planDelivery>,
  controlPlane: ControlPlane,
): Promise<Outcome> {
  if (delivery.by === 'us') return (await endings()).deliverDirectly(run, plan, delivery, controlPlane);
  const surplus = surplusOf(plan, { ...controlPlane, operation: run.operation });
  if (surplus === undefined) return deliverByManagedResource(run, plan, controlPlane);
  return (await endings()).deliverRestored(run, plan, controlPlane, surplus);
}

/** Deletes the kinds of removed components, or keeps them after all, once everything else is done. */
async function settleKinds(run: Run, plan: Plan, deletes: boolean, { type }: Outcome): Promise<Outcome> {
  if (type !== 'done' || !(deletes || plan.record.deletingKinds !== undefined)) return done;
  return (await import('./on-demand.ts')).settleFormerKinds(run, plan, deletes);
}

/** True where the project has ended its rollout; a configuration that is not valid may only be a mistake in it. */
function isWithoutRollout({ previous }: ControlPlane, { type }: Configuration | Obstacle, layers: Layers): boolean {
  if (previous?.revision === undefined || layers.rollout !== undefined) return false;
  return type === 'configuration' || layers.fluxConfig === undefined;
}

/** Loaded on demand, because most runs deliver a plan. */
const endings = () => import('./on-demand.ts');

/** Once the resource-manager has released the installed objects, nothing puts the protection back. */
async function withoutLeftProtection(run: Run, found: ControlPlane): Promise<ControlPlane> {
  const isReleased = !found.live.has(names.crds) && !found.live.has(names.controllers);
  if (!isReleased || !isLeftProtected(found.previous)) return found;
  return (await import('./on-demand.ts')).removeLeftProtection(run, found);
}

/** The next run removes the protection from what this one has released, or did not reach in the shoot. */
function unlessLeftProtected(run: Run, { previous, live }: ControlPlane, outcome: Outcome): Outcome {
  const { state, lastOperation } = run.reporter.current().status ?? {};
  if (outcome.type !== 'done' || !isLeftProtected(state?.applied)) return outcome;
  const unreachableSince = isLeftProtected(previous) ? lastOperation?.lastUpdateTime : undefined;
  return waitOn(run, oldestDeletion(live.values()) ?? unreachableSince, 2);
}
