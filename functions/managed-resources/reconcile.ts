import { type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { deliverByManagedResource } from './deliver/by-managed-resource.ts';
import { withNextCheck } from './deliver/next-check.ts';
import { reportHibernated, reportObstacle, takeOver } from './endings.ts';
import { planDelivery } from './plan/direct.ts';
import { makePlan } from './plan/plan.ts';
import { updateScope } from './plan/scope.ts';
import { readConfiguration, readLayers, withWrittenPolicy } from './read/configuration.ts';
import { readControlPlane } from './read/control-plane.ts';
import { readPlanParts } from './read/plan-parts.ts';
import type { Run } from './run.ts';

/**
 * Handles Create, Reconcile and Restore: reads, decides the scope, plans, and delivers the plan. Each delivery records
 * the plan before its first write and reports at the end. Nothing in here waits.
 */
export async function reconcile(run: Run): Promise<Outcome> {
  if (run.cluster.spec.shoot.spec?.hibernation?.enabled === true) return reportHibernated(run);

  const found = await readControlPlane(run);
  if (found.legacy.length > 0) return takeOver(run, found.legacy);

  const layers = await readLayers(run);
  const controlPlane = withWrittenPolicy(found, layers);
  const configuration = await readConfiguration(run, controlPlane, layers);
  if (configuration.type !== 'configuration') return reportObstacle(run, controlPlane, configuration);
  const parts = await readPlanParts(run, controlPlane, configuration);
  if (parts.type !== 'plan parts') return reportObstacle(run, controlPlane, parts);

  const plan = makePlan(parts.inputs, parts.rendered, parts.synced);
  const delivery = planDelivery(run.context.settings.delivery, plan, controlPlane);
  const outcome =
    delivery.by === 'ManagedResource'
      ? await deliverByManagedResource(run, plan, controlPlane)
      : // Loaded on demand, because most landscapes never deliver directly.
        await (await import('./deliver/directly.ts')).deliverDirectly(run, plan, delivery, controlPlane);
  // The record no longer names objects that are pending removal: the next run releases the rest.
  const scope = updateScope(plan.record.syncMode, controlPlane.isBootstrapped, plan.record);
  const isNarrower = outcome.type === 'done' && configuration.scope.sync && !scope.sync;
  return isNarrower ? requeueAfter(1) : withNextCheck(run, plan, outcome);
}
