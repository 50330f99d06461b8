import { RetryableError, retryWithin } from '../../shared/errors.ts';
import { loadExtension } from '../../shared/gardener/gate.ts';
import type { Given } from '../../shared/gardener/landscape.ts';
import { askedOperation, isNewlyAsked } from '../../shared/gardener/operation.ts';
import type { Cluster } from '../../shared/gardener/types.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { done, type Outcome, requeueAfter, sooner } from '../../shared/runtime/outcome.ts';
import { deliverByManagedResource, pauseWhilePending } from './deliver/deliver.ts';
import { isStillApplying } from './deliver/judge.ts';
import { deliverMonitoring } from './deliver/monitoring.ts';
import { withNextCheck } from './deliver/next-check.ts';
import { deliverRestored, surplusOf } from './deliver/restored.ts';
import { followSuspension } from './deliver/suspension.ts';
import { reportHibernated, reportObstacle, takeOver } from './endings.ts';
import { makePlan, type Plan } from './plan/plan.ts';
import { updateScope } from './plan/scope.ts';
import {
  type Configuration,
  type Layers,
  layersWith,
  readConfiguration,
  readLayers,
  withWrittenPolicy,
} from './read/configuration.ts';
import { type ControlPlane, readControlPlane } from './read/control-plane.ts';
import { readPlanParts } from './read/plan-parts.ts';
import { createReporter } from './reporter.ts';
import { findLandscape, firstGiven, inItsTurn, type Turn } from './rollout/landscape.ts';
import { type Asked, endRollout, keepApplied, waitForTurn } from './rollout/rollout.ts';
import { isWokenByApplying, type Run, type Start } from './run.ts';
import { adoptForeignFlux } from './shoot/adopt.ts';
import { migrateStoredObjects } from './shoot/migrate-stored.ts';
import { removeLeftProtection, unlessLeftProtected } from './shoot/protection.ts';
import { announceUpgrade, announceWarnings } from './shoot-events.ts';
import { migrate, releaseLeftovers, remove, yieldToShootDeletion } from './uninstall/operations.ts';

/** gardenlet gives an operation three minutes: back-off must not use them up (trap 13). */
const RETRY_IN_FLIGHT_SECONDS = 15;

/** Of a run's ten seconds; the rest is for requests in flight and for the record of the progress. */
const WORK_MS = 6_000;

/** Reads the Extension and its Cluster, asks the gate, and runs the operation. */
export const handler: Handler = async (key, context) => {
  const started = performance.now();
  const seed = await context.kube(key.cluster);
  const loaded = await loadExtension(seed, key);
  if (loaded.state === 'absent') {
    return releaseLeftovers(seed, key.namespace, context.now());
  }
  if (loaded.state === 'irrelevant') return done;
  if (loaded.state === 'without Cluster') {
    // Trap 40: for a Shoot's namespace a missing Cluster is an error, not an end.
    const message = `Cluster ${key.namespace} of Extension ${key.namespace}/${key.name} does not exist yet; gardenlet creates it, and the run is retried.`;
    throw retryWithin(new RetryableError(message), RETRY_IN_FLIGHT_SECONDS);
  }
  if (loaded.state === 'closed') {
    context.log.debug('gate closed', { reason: loaded.reason });
    return done;
  }
  const { extension, cluster, operation } = loaded;
  warnOfSeedName(cluster, key.cluster, context);
  // False for most runs that an edit of flux-config starts: gardenlet does not wait for them.
  const isAsked = askedOperation(extension) !== undefined;
  const start: Start = {
    ...{ context, seed, seedName: key.cluster, namespace: key.namespace, cluster, operation, isAsked },
    isNewlyAsked: isNewlyAsked(extension),
    isTimeUp: () => performance.now() - started > WORK_MS,
  };
  const run: Run = { ...start, reporter: createReporter(start, extension) };
  if (context.endedBefore !== undefined) throw await reportEnded(run, context.endedBefore);
  try {
    return await dispatch(run);
  } catch (error) {
    await reportUnexpectedError(run, error);
    // The API of a shoot that wakes up does not answer yet, and gardenlet asks as soon as it does.
    const isWaking = cluster.spec.shoot.status?.hibernated === true;
    throw run.reporter.isInFlight() || isWaking ? retryWithin(error, RETRY_IN_FLIGHT_SECONDS) : error;
  }
};

function dispatch(run: Run): Promise<Outcome> {
  if (run.operation === 'Migrate') return migrate(run);
  if (run.reporter.current().metadata.deletionTimestamp !== undefined) return remove(run);
  const isShootDeleted = run.cluster.spec.shoot.metadata.deletionTimestamp !== undefined;
  return isShootDeleted ? yieldToShootDeletion(run) : reconcile(run);
}

/**
 * Handles Create, Reconcile and Restore: reads, plans, and delivers. Each step that ends the run returns its outcome.
 * Each delivery records the plan before its first write and reports at the end. Nothing in here waits.
 */
async function reconcile(run: Run): Promise<Outcome> {
  if (run.cluster.spec.shoot.spec?.hibernation?.enabled === true) return reportHibernated(run);

  // What the control plane has.
  const found = await readControlPlane(run);
  if (found.legacy.length > 0) return takeOver(run, found.legacy);
  const { lastOperation } = run.reporter.current().status ?? {};
  if (isWokenByApplying(run) && isStillApplying(found, lastOperation)) {
    return requeueAfter(pauseWhilePending(run));
  }
  const unprotected = await removeLeftProtection(run, found);

  // What users and operators ask for.
  const landscape = await findLandscape(run, unprotected);
  if (landscape !== undefined && 'type' in landscape) return landscape;
  const first = await readLayers(run, landscape && firstGiven(landscape, unprotected.previous));
  const written = withWrittenPolicy(unprotected, first);
  const suspending = await followSuspension(run, written, first.suspension);
  if (suspending !== undefined) return suspending;
  const next = await ask(run, written, first);
  const rolloutEnd = await endRollout(run, next);
  if (rolloutEnd !== undefined) return rolloutEnd;

  // What the Shoot gets of that now.
  const askFormer = async (has: Given) => {
    const former = await layersWith(run, first, has);
    return ask(run, withWrittenPolicy(unprotected, former), former);
  };
  const turn: Turn = landscape === undefined ? { asked: next } : await inItsTurn(run, landscape, next, askFormer);
  const { asked } = turn;
  const { layers, controlPlane } = asked;
  if (asked.plan === undefined) {
    const taken = await turn.take?.();
    if (taken !== undefined) return taken;
    const reported = await reportObstacle(run, controlPlane, asked.obstacle, layers);
    return untilTurn(turn, unlessLeftProtected(run, found, reported));
  }
  const { plan, parts, configuration } = asked;
  if (turn.isKept === true) return keepApplied(run, plan, controlPlane, turn.again);

  // What has to happen before it is delivered.
  const waiting = await waitForTurn(run, plan, controlPlane, layers.rollout);
  if (waiting !== undefined) return untilTurn(turn, waiting);
  const taken = await turn.take?.();
  if (taken !== undefined) return taken;
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
  await deliverMonitoring(run, controlPlane, parts.inputs.render.config);
  if (releasesMoreNext(plan, controlPlane, configuration, outcome)) return requeueAfter(1);
  return untilTurn(turn, unlessLeftProtected(run, found, withNextCheck(run, plan, outcome)));
}

/** Reads everything that the layers name, and plans. @param controlPlane with the deletion policy that they write */
async function ask(run: Run, controlPlane: ControlPlane, layers: Layers): Promise<Asked> {
  const configuration = await readConfiguration(run, controlPlane, layers);
  const known = { layers, controlPlane };
  if (configuration.type !== 'configuration') return { ...known, configuration, obstacle: configuration };
  const parts = await readPlanParts(run, controlPlane, configuration);
  if (parts.type !== 'plan parts') return { ...known, configuration, obstacle: parts };
  return { ...known, configuration, parts, plan: makePlan(parts.inputs, parts.rendered, parts.synced) };
}

/** Returns the outcome, or an earlier one while the Shoot waits for what the operators have changed. */
function untilTurn({ again }: Turn, outcome: Outcome): Outcome {
  return again === undefined ? outcome : sooner(outcome, requeueAfter(again));
}

/**
 * True when the sync objects were in scope only because some were pending removal, and none is left: the next run
 * releases them.
 */
function releasesMoreNext(
  { record }: Plan,
  { isBootstrapped }: ControlPlane,
  { scope }: Configuration,
  { type }: Outcome,
): boolean {
  return type === 'done' && scope.sync && !updateScope(record.syncMode, isBootstrapped, record).sync;
}

/**
 * Warns when this deployment names a seed differently than the garden: changes of the fan-out reach no function then.
 */
function warnOfSeedName({ spec }: Cluster, name: string, { log }: Run['context']): void {
  const inGarden = spec.seed?.metadata?.name;
  if (inGarden === undefined || inGarden === name) return;
  const error =
    `this deployment calls the seed ${name}, but the garden calls it ${inGarden}: ` +
    'use the name that the garden uses; otherwise changes of flux-config reach its Shoots only with the hourly resync.';
  log.warn('seed name differs from the garden', { error });
}

/** Says why the last run was ended, and returns the same as an error: the next attempt does the work again. */
async function reportEnded({ reporter }: Run, endedBefore: string): Promise<RetryableError> {
  const { namespace, name } = reporter.current().metadata;
  const sentence =
    `The run for Extension ${namespace}/${name} ${endedBefore}, so it was ended, and is retried more and more rarely; ` +
    'simplify its providerConfig, flux-config, and the objects that they name, for example the patterns in patches.';
  await reporter.failed(sentence);
  return new RetryableError(sentence);
}

/** Shows an error that is retried while gardenlet waits. Best effort: the retry matters more. */
async function reportUnexpectedError({ reporter, context }: Run, error: unknown): Promise<void> {
  if (error instanceof ConflictError || context.signal.aborted || !reporter.isInFlight()) return;
  try {
    await reporter.failed(describeError(error), {}, []);
  } catch (failure) {
    context.log.warn('status write failed', { error: describeError(failure) });
  }
}
