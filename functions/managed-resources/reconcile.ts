import { managedResourceNames as names } from '../../shared/gardener/managed-resource.ts';
import { type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { deliverByManagedResource } from './deliver/by-managed-resource.ts';
import { withNextCheck } from './deliver/next-check.ts';
import { planDelivery } from './plan/direct.ts';
import { mayDropVersions } from './plan/dropped-versions.ts';
import { isLeftProtected } from './plan/protection.ts';
import { updateScope } from './plan/scope.ts';
import { readConfiguration, readLayers, withWrittenPolicy } from './read/configuration.ts';
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
  const found = await withoutLeftProtection(run, live);

  const layers = await readLayers(run);
  const controlPlane = withWrittenPolicy(found, layers);
  const configuration = await readConfiguration(run, controlPlane, layers);
  if (configuration.type !== 'configuration') return (await endings()).reportObstacle(run, controlPlane, configuration);
  const { makePlan, readPlanParts } = await import('./planning.ts');
  const parts = await readPlanParts(run, controlPlane, configuration);
  if (parts.type !== 'plan parts') return (await endings()).reportObstacle(run, controlPlane, parts);

  const plan = makePlan(parts.inputs, parts.rendered, parts.synced);
  if (layers.rollout !== undefined && needsTurn({ plan, operation: run.operation, ...controlPlane })) {
    const outcome = await (await import('./on-demand.ts')).waitForTurn(run, controlPlane, layers.rollout);
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
  if (mayDropVersions({ plan, liveVersion, ...controlPlane })) {
    const outcome = await (await import('./on-demand.ts')).migrateStoredObjects(run, plan, controlPlane);
    if (outcome !== undefined) return outcome;
  }
  const { warnings } = plan.record;
  if (warnings !== undefined) {
    await (await import('./on-demand.ts')).notifyWarnings(run, warnings, controlPlane.previous?.warnings);
  }
  const delivery = planDelivery(run.context.settings.delivery, plan, controlPlane);
  const outcome =
    delivery.by === 'ManagedResource'
      ? await deliverByManagedResource(run, plan, controlPlane)
      : // Loaded on demand, because most landscapes never deliver directly.
        await (await import('./on-demand.ts')).deliverDirectly(run, plan, delivery, controlPlane);
  // The record no longer names objects that are pending removal: the next run releases the rest.
  const scope = updateScope(plan.record.syncMode, controlPlane.isBootstrapped, plan.record);
  const isNarrower = outcome.type === 'done' && configuration.scope.sync && !scope.sync;
  return isNarrower ? requeueAfter(1) : unlessLeftProtected(run, live, withNextCheck(run, plan, outcome));
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
