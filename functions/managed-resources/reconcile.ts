import { behaviourChanges, behaviourText } from '../../shared/flux/behaviour-changes.ts';
import { managedResourceNames as names } from '../../shared/gardener/managed-resource.ts';
import { withShoot } from '../../shared/gardener/shoot-client.ts';
import { type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { deliverByManagedResource, pauseWhilePending } from './deliver/deliver.ts';
import { isStillApplying } from './deliver/judge.ts';
import { withNextCheck } from './deliver/next-check.ts';
import { deliverRestored, surplusOf } from './deliver/restored.ts';
import { reportHibernated, reportObstacle, takeOver } from './endings.ts';
import { makePlan, type Plan } from './plan/plan.ts';
import { type Obstacle, updateScope } from './plan/scope.ts';
import { mayDropVersions } from './plan/stored-versions.ts';
import {
  type Configuration,
  type Layers,
  readConfiguration,
  readLayers,
  withWrittenPolicy,
} from './read/configuration.ts';
import { type ControlPlane, readControlPlane } from './read/control-plane.ts';
import { readPlanParts } from './read/plan-parts.ts';
import { endRollout, needsTurn, waitForTurn } from './rollout/rollout.ts';
import { isNewsOfApplying, oldestDeletion, type Run, waitOn } from './run.ts';
import { adoptObjects } from './shoot/adopt.ts';
import { migrateStoredObjects } from './shoot/migrate-stored.ts';
import { objectRef } from './shoot/objects.ts';
import { isLeftProtected, namespaceRef, removeLeftProtection } from './shoot/protection.ts';
import { notifyShoot } from './shoot-events.ts';

/**
 * Handles Create, Reconcile and Restore: reads, decides the scope, plans, and delivers the plan. Each delivery records
 * the plan before its first write and reports at the end. Nothing in here waits.
 */
export async function reconcile(run: Run): Promise<Outcome> {
  if (run.cluster.spec.shoot.spec?.hibernation?.enabled === true) return reportHibernated(run);

  const live = await readControlPlane(run);
  if (live.legacy.length > 0) return takeOver(run, live.legacy);
  const { lastOperation } = run.reporter.current().status ?? {};
  if (isNewsOfApplying(run) && isStillApplying({ ...live, lastOperation })) return requeueAfter(pauseWhilePending(run));
  const found = await withoutLeftProtection(run, live);

  const layers = await readLayers(run);
  const controlPlane = withWrittenPolicy(found, layers);
  const configuration = await readConfiguration(run, controlPlane, layers);
  if (isWithoutRollout(controlPlane, configuration, layers)) {
    const outcome = await endRollout(run);
    if (outcome !== undefined) return outcome;
  }
  if (configuration.type !== 'configuration') return reportObstacle(run, controlPlane, configuration, layers);
  const parts = await readPlanParts(run, controlPlane, configuration);
  if (parts.type !== 'plan parts') return reportObstacle(run, controlPlane, parts, layers);

  const plan = makePlan(parts.inputs, parts.rendered, parts.synced);
  if (layers.rollout !== undefined && needsTurn({ plan, operation: run.operation, ...controlPlane })) {
    const outcome = await waitForTurn(run, plan, controlPlane, layers.rollout);
    if (outcome !== undefined) return outcome;
  }
  const { liveVersion, isForeign } = parts;
  if (isForeign && plan.contents.has(names.crds)) {
    const outcome = await adopt(run, plan);
    if (outcome !== undefined) return outcome;
  }
  await run.reporter.recordForeign(undefined);
  const installed = controlPlane.previous?.fluxVersion ?? liveVersion;
  if (installed !== undefined && installed !== plan.record.fluxVersion && plan.contents.has(names.crds)) {
    await announceUpgrade(run, installed, plan);
  }
  const { upgradingTo } = run.reporter.current().status?.state ?? {};
  if (mayDropVersions({ plan, liveVersion, upgradingTo, ...controlPlane })) {
    const outcome = await migrateStoredObjects(run, plan, controlPlane);
    if (outcome !== undefined) return outcome;
  }
  const { warnings } = plan.record;
  if (warnings !== undefined) {
    await notifyWarnings(run, warnings, controlPlane.previous?.warnings);
  }
  const outcome = await deliver(run, plan, controlPlane);
  // The record no longer names objects that are pending removal: the next run releases the rest.
  const scope = updateScope(plan.record.syncMode, controlPlane.isBootstrapped, plan.record);
  const isNarrower = outcome.type === 'done' && configuration.scope.sync && !scope.sync;
  if (isNarrower) return requeueAfter(1);
  return unlessLeftProtected(run, live, withNextCheck(run, plan, outcome));
}

async function deliver(run: Run, plan: Plan, controlPlane: ControlPlane): Promise<Outcome> {
  const surplus = surplusOf(plan, { ...controlPlane, operation: run.operation });
  if (surplus === undefined) return deliverByManagedResource(run, plan, controlPlane);
  return deliverRestored(run, plan, controlPlane, surplus);
}

/** True where the project has ended its rollout; a configuration that is not valid may only be a mistake in it. */
function isWithoutRollout({ previous }: ControlPlane, { type }: Configuration | Obstacle, layers: Layers): boolean {
  if (previous?.revision === undefined || layers.rollout !== undefined) return false;
  return type === 'configuration' || layers.fluxConfig === undefined;
}

/** Once the resource-manager has released the installed objects, nothing puts the protection back. */
async function withoutLeftProtection(run: Run, found: ControlPlane): Promise<ControlPlane> {
  const isReleased = !found.live.has(names.crds) && !found.live.has(names.controllers);
  if (!isReleased || !isLeftProtected(found.previous)) return found;
  return removeLeftProtection(run, found);
}

/** The next run removes the protection from what this one has released, or did not reach in the shoot. */
function unlessLeftProtected(run: Run, { previous, live }: ControlPlane, outcome: Outcome): Outcome {
  const { state, lastOperation } = run.reporter.current().status ?? {};
  if (outcome.type !== 'done' || !isLeftProtected(state?.applied)) return outcome;
  const unreachableSince = isLeftProtected(previous) ? lastOperation?.lastUpdateTime : undefined;
  return waitOn(run, oldestDeletion(live.values()) ?? unreachableSince, 2);
}

/**
 * Takes over a Flux that others have installed, where the configuration asks for it (decision 60).
 * @returns undefined when the plan can be delivered
 */
async function adopt(run: Run, { contents, record }: Plan): Promise<Outcome | undefined> {
  const installed = [names.crds, names.controllers].flatMap((name) => contents.get(name) ?? []);
  const refs = new Set([namespaceRef(record), ...installed.map(objectRef)]);
  // Recorded before the first write, so that whatever ends the adoption can remove the protection again.
  const recorded = { upgradingTo: record.fluxVersion, adopting: [...refs] };
  await run.reporter.processing('Taking over the Flux in the shoot.', recorded);
  await run.reporter.accept();
  const isDone = await withShoot(run, (shoot) => adoptObjects(shoot, [...refs], run.isTimeUp));
  return isDone === true ? undefined : requeueAfter(1);
}

/**
 * Reports what an upgrade of Flux changes, as Events of the Shoot in the garden, before anything of the release reaches
 * the shoot. Safe to repeat: the same sentence is one Event. A migration of stored objects takes many runs; its record
 * says that the first of them has reported.
 * @param from the release that runs
 */
async function announceUpgrade(run: Run, from: string, { record }: Pick<Plan, 'record'>): Promise<void> {
  if (run.reporter.current().status?.state?.upgradingTo === record.fluxVersion) return;
  for (const change of behaviourChanges(from, record.fluxVersion, record.components)) {
    const message = `Flux is upgraded from ${from} to ${record.fluxVersion}. ${behaviourText(change)}`;
    await notifyShoot(run, { type: 'Normal', reason: 'FluxUpgrade', message });
  }
}

/**
 * Reports what the configuration says in vain as one Event of the Shoot, with each warning that the last applied
 * configuration did not have: one request, however many there are. Called before the record of the warnings: a run that
 * is killed in between writes the same Event again.
 */
async function notifyWarnings(run: Run, warnings: readonly string[], known: readonly string[] = []): Promise<void> {
  const added = warnings.filter((warning) => !known.includes(warning));
  if (added.length === 0) return;
  const message = added.map((warning) => `${warning}.`).join(' ');
  await notifyShoot(run, { type: 'Warning', reason: 'ConfigurationWarning', message });
}
