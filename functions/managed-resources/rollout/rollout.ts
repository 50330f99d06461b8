import { isDeepStrictEqual } from 'node:util';
import { fluxConfigMapOf, ROLLOUT } from '../../../shared/config/flux-config-map.ts';
import { FLUX_CONFIG, FLUX_SOURCE } from '../../../shared/config/project-config.ts';
import { isReady } from '../../../shared/gardener/checked.ts';
import { CreationRefusedError } from '../../../shared/gardener/creation-refused.ts';
import { secondsUntilWindow } from '../../../shared/gardener/maintenance-window.ts';
import {
  applyState,
  contentSecretName,
  isCurrent,
  managedResourceNames as names,
} from '../../../shared/gardener/managed-resource.ts';
import {
  ROLLOUT_STATE,
  ROLLOUT_TEXT,
  type RolloutState,
  rolloutData,
  rolloutIn,
  stateText,
} from '../../../shared/gardener/rollout.ts';
import {
  createStatusMap,
  findStatusMap,
  isOwn,
  patchStatusMap,
  publishedLine,
  readyShootsOf,
  secondsAfterOvertaken,
  shootsOf,
} from '../../../shared/gardener/status-map.ts';
import type { Applied, Extension, OperationType } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { InvalidError, unless } from '../../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { epochSeconds, growingPause } from '../../../shared/runtime/growing-pause.ts';
import { GARDEN } from '../../../shared/runtime/key.ts';
import { done, type Outcome, requeueAfter, sooner } from '../../../shared/runtime/outcome.ts';
import { fieldsOf } from '../../../shared/shapes.ts';
import { reportUnapplied, writeContent, writeManagedResource } from '../deliver/deliver.ts';
import { revisionOf } from '../plan/config-hash.ts';
import type { Plan } from '../plan/plan.ts';
import { managing, type Obstacle } from '../plan/scope.ts';
import type { Configuration, Layers, ProjectRollout } from '../read/configuration.ts';
import { type ControlPlane, fieldManager, readContent } from '../read/control-plane.ts';
import type { PlanParts } from '../read/plan-parts.ts';
import type { Run } from '../run.ts';
import { admit, type Candidate, secondsToGather } from './admit.ts';

/** Others write at the same moment; more attempts would only overtake them. */
const ATTEMPTS = 2;

/** Where nothing else wakes a Shoot whose turn it is, for example because it is on another seed. */
const RECHECK_SECONDS = 60;

/** A refused ConfigMap that members create by hand, or that is allowed later, does not wake the Shoots that wait for it. */
const REFUSED_SECONDS = 300;

const WITHOUT_STATUS = 'The last applied configuration is kept until flux-status can hold the rollout';

/** What users and operators ask for, and the plan that follows from it or the obstacle that keeps it from being made. */
export type Asked = { layers: Layers; controlPlane: ControlPlane; configuration: Configuration | Obstacle } & (
  | { plan: Plan; parts: PlanParts; configuration: Configuration }
  | { plan?: undefined; obstacle: Obstacle }
);

/**
 * Takes the Shoot's place in the rollout, or keeps what is applied until its turn (decision 63). The place is written
 * first, so a run that is killed afterwards finds it again.
 * @returns undefined when the plan can be delivered
 */
export async function waitForTurn(
  run: Run,
  plan: Plan,
  controlPlane: ControlPlane,
  rollout: ProjectRollout | undefined,
): Promise<Outcome | undefined> {
  const { cluster, context, operation } = run;
  if (rollout === undefined || !needsTurn(plan, controlPlane, operation)) return undefined;
  // The annotation, once it is gone, wakes all Shoots of the project.
  if (rollout.isSuspended) return keepApplied(run, plan, controlPlane, undefined);
  const { namespace = '' } = cluster.spec.shoot.metadata;
  const garden = await context.kube(GARDEN);
  for (let attempt = 1; ; attempt++) {
    const map = await findOrCreate(garden, namespace);
    // Nothing can be agreed on, so no Shoot begins: an edit would reach all of them at once.
    if (map instanceof CreationRefusedError) {
      return keepApplied(run, plan, controlPlane, REFUSED_SECONDS, `${WITHOUT_STATUS}: ${map.message}`);
    }
    // It belongs to others, so that nothing can be agreed on there.
    if (!isOwn(map)) return keepApplied(run, plan, controlPlane, RECHECK_SECONDS);
    const live = rolloutIn(map);
    // An older edit must not replace a newer one: what was read after the state is at least as new.
    if (live?.revision !== rollout.revision && !(await isStillAsked(garden, namespace, rollout)))
      return requeueAfter(1);
    const { landscape } = plan.record;
    const candidate = { ...candidateOf(run, rollout, map, controlPlane.live), landscape };
    const { isAdmitted, state } = admit(live, candidate);
    const data = rolloutData(state, candidate.shoots);
    const isWritten = stateText(state) === fieldsOf(map.data)?.[ROLLOUT_STATE];
    if (isWritten || (await unless(patchStatusMap(garden, map, data, fieldManager), InvalidError))) {
      return isAdmitted ? undefined : keepApplied(run, plan, controlPlane, pauseOf(state, candidate));
    }
    if (attempt === ATTEMPTS) return requeueAfter(secondsAfterOvertaken(candidate.shoots));
  }
}

function candidateOf(
  { cluster, context, reporter }: Run,
  { settings, revision, continued }: ProjectRollout,
  map: KubeObject,
  live: ControlPlane['live'],
): Candidate {
  const { metadata, spec } = cluster.spec.shoot;
  const shoot = metadata.name;
  const shoots = shootsOf(map);
  const now = context.now();
  const line = publishedLine(map, shoot);
  const order = settings.order === undefined ? undefined : metadata.labels?.[settings.order];
  return {
    ...{ shoot, revision, rollout: settings, continued, ready: readyShootsOf(map) },
    shoots: shoots.has(shoot) ? shoots.size : shoots.size + 1,
    // Its value comes from a Shoot, of which nothing was checked.
    order: typeof order === 'string' && order.length <= LONGEST_LABEL ? order : undefined,
    // Its record has the revision: the operators change the Shoot.
    isAgain: reporter.current().status?.state?.applied?.revision === revision,
    isReady: (line?.state !== 'Not Ready' && line?.after !== 'Not Ready') || worksAsApplied(reporter.current(), live),
    untilWindow: settings.maintenanceWindow === true ? secondsUntilWindow(spec?.maintenance?.timeWindow, now) : 0,
    now: epochSeconds(now),
  };
}

const LONGEST_LABEL = 63;

/** True where only an edit that could not be applied has made the line say that the Shoot is not Ready. */
function worksAsApplied({ status = {} }: Extension, live: ControlPlane['live']): boolean {
  return isReady(status) && [...live.values()].every((resource) => applyState(resource).state !== 'failing');
}

async function isStillAsked(garden: KubeClient, namespace: string, { revision }: ProjectRollout): Promise<boolean> {
  const configMap = await garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG });
  return configMap !== undefined && revisionOf(fluxConfigMapOf(namespace, configMap)) === revision;
}

/** Reads the `flux-status` of a namespace, and creates it where there is none. */
export async function findOrCreate(garden: KubeClient, namespace: string): Promise<KubeObject | CreationRefusedError> {
  const map = await findStatusMap(garden, namespace);
  if (map !== undefined) return map;
  try {
    return await createStatusMap(garden, namespace, fieldManager);
  } catch (error) {
    if (error instanceof CreationRefusedError) return error;
    throw error;
  }
}

/** Seconds until the next run: growing, and in time for what is known to come. */
export function pauseOf({ began }: RolloutState, candidate: Candidate): number {
  const { now, shoots, rollout, untilWindow, pause } = candidate;
  const gathers = rollout.order !== undefined && pause === undefined;
  const untilGathered = gathers ? secondsToGather(shoots) + began - now : 0;
  const known = [untilGathered, untilWindow].filter((seconds) => seconds > 0);
  return Math.max(1, Math.min(growingPause(now - began, RECHECK_SECONDS), ...known));
}

/** Secrets are not among them: rotated credentials never wait. */
const rolledOut = [names.crds, names.controllers, names.sync];

/**
 * Returns whether a plan changes a running Shoot because of an edit of `flux-config`, or of what the operators give it. What
 * comes from elsewhere has its own time.
 */
export function needsTurn(plan: Pick<Plan, 'record'>, controlPlane: Plane, operation: OperationType): boolean {
  const [{ revision, landscape }, { previous }] = [plan.record, controlPlane];
  if (revision === undefined || (revision === previous?.revision && landscape === previous.landscape)) return false;
  return changesRunning(plan, controlPlane, operation);
}

type Plane = Omit<ControlPlane, 'legacy'>;

/**
 * Returns whether a plan changes a running Shoot. A new Shoot, one on a new seed and one without its ManagedResources have
 * nothing to keep.
 */
export function changesRunning(
  { record }: Pick<Plan, 'record'>,
  { previous, isBootstrapped, live }: Plane,
  operation: OperationType,
): boolean {
  if (previous === undefined || !isBootstrapped || operation === 'Restore') return false;
  if (Object.keys(previous.managedResources).some((name) => !live.has(name))) return false;
  return !isSameContent(record, previous);
}

/** Returns whether two records have the same CRDs, controllers, sources and Kustomizations. */
export function isSameContent(one: Applied, other: Applied): boolean {
  return rolledOut.every((name) => one.managedResources[name] === other.managedResources[name]);
}

/**
 * Removes the rollout from `flux-status` once the project asks for none. Only a Shoot whose record has one reads it.
 * @returns undefined when nothing is left of it
 */
export async function endRollout(
  { cluster, context }: Run,
  { controlPlane: { previous }, configuration: { type }, layers: { rollout, fluxConfig } }: Asked,
): Promise<Outcome | undefined> {
  if (previous?.revision === undefined || rollout !== undefined) return undefined;
  // A configuration that is not valid may only be a mistake in the rollout.
  if (type !== 'configuration' && fluxConfig !== undefined) return undefined;
  const { namespace = '' } = cluster.spec.shoot.metadata;
  const garden = await context.kube(GARDEN);
  const map = await findStatusMap(garden, namespace);
  const data = fieldsOf(map?.data);
  if (map === undefined || !isOwn(map) || (data?.[ROLLOUT_TEXT] ?? data?.[ROLLOUT_STATE]) === undefined)
    return undefined;
  // What was read after the state is at least as new: a rollout that has begun since then stays.
  const configMap = await garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG });
  if (fieldsOf(configMap?.data)?.[ROLLOUT] !== undefined) return requeueAfter(1);
  const ended = await patchStatusMap(garden, map, { [ROLLOUT_TEXT]: null, [ROLLOUT_STATE]: null }, fieldManager);
  return ended === undefined ? requeueAfter(1) : undefined;
}

/** What an operation waits for in the meantime. */
const REAPPLYING = 'Applying the last configuration, which is kept until a rollout reaches this Shoot.';

/** How an operation ends while a Shoot waits for its turn. */
export const KEPT = 'The last applied configuration is kept until a rollout reaches this Shoot.';

/**
 * Leaves the last applied objects unchanged, except for rotated Secrets of the project. gardenlet gets an answer, and
 * what fails is reported, as in a Shoot that does not wait.
 * @param seconds until the next check; undefined: the resync is early enough
 * @param problem what a person has to do for the rollout to go on, which `readiness` publishes
 */
export async function keepApplied(
  run: Run,
  plan: Plan,
  controlPlane: ControlPlane,
  seconds: number | undefined,
  problem = plan.record.problem,
): Promise<Outcome> {
  const { previous, live } = controlPlane;
  // Its deletion policy may be a new one, and an older problem solved.
  if (previous !== undefined) await run.reporter.record({ applied: { ...previous, problem } });
  await deliverRotated(run, plan, controlPlane);
  const { reporter, isAsked } = run;
  const outcome = seconds === undefined ? done : requeueAfter(seconds);
  const unapplied = await reportUnapplied(run, previous ?? { managedResources: {} }, live, REAPPLYING);
  if (unapplied !== undefined) return sooner(outcome, unapplied);
  if (!isAsked && !reporter.isInFlight()) return outcome;
  await reporter.succeeded(KEPT);
  await reporter.finish();
  return outcome;
}

/**
 * Delivers rotated Secrets of the project. The control plane says what the shoot has, not the record: a run that was
 * killed after it had recorded the rotation is repeated.
 */
async function deliverRotated(run: Run, plan: Plan, { previous, live }: ControlPlane): Promise<void> {
  const { reporter, seed, namespace } = run;
  const name = names.secrets;
  const resource = managing(live, name);
  if (resource === undefined || previous?.projectCopies === undefined) return;
  if (isCurrent(resource, plan.record.managedResources[name] ?? '')) return;
  const content = await readContent(run, resource);
  if (content === undefined) return;
  const next = { objects: plan.contents.get(name) ?? [], ofProject: plan.record.projectCopies ?? [] };
  const objects = rotatedCopies({ objects: content, ofProject: previous.projectCopies }, next);
  if (objects === undefined) return;
  const secretName = contentSecretName(name, objects);
  const managedResources = { ...previous.managedResources, [name]: secretName };
  await reporter.record({ applied: { ...previous, managedResources } });
  await writeContent(seed, namespace, name, objects);
  await writeManagedResource(seed, namespace, name, secretName, resource);
}

/** The copies of a configuration, and those among them that are of Secrets of the project. */
interface Copies {
  objects: readonly KubeObject[];
  ofProject: readonly string[];
}

/**
 * Returns the copies of the kept configuration with what the Secrets of the project contain now. Contents that a Secret has
 * because of the next configuration stay out: a copy of another Secret, another kind of credentials, other host keys.
 * @returns undefined where nothing differs
 */
export function rotatedCopies(kept: Copies, next: Copies): KubeObject[] | undefined {
  const common = kept.ofProject.filter((copy) => next.ofProject.includes(copy));
  const objects = kept.objects.map((object) => {
    const copy = common.find((one) => object.kind === 'Secret' && one.endsWith(` ${placeOf(object)}`));
    const other = next.objects.find(({ kind, ...one }) => kind === 'Secret' && placeOf(one) === placeOf(object));
    if (copy === undefined || other === undefined || isDeepStrictEqual(object.data, other.data)) return object;
    return isRotation(copy, object, other) ? { ...object, data: other.data } : object;
  });
  return objects.some((object, index) => object !== kept.objects[index]) ? objects : undefined;
}

function placeOf({ metadata: { namespace = '', name } }: Pick<KubeObject, 'metadata'>): string {
  return `${namespace}/${name}`;
}

/** `keys` writes the host keys into `flux-source`, and the configuration decides about the keys that it needs. */
function isRotation(copy: string, one: KubeObject, other: KubeObject): boolean {
  if (one.type !== other.type) return false;
  if (!copy.startsWith(`${FLUX_SOURCE} `)) return true;
  const [before = {}, after = {}] = [one, other].map(({ data }) => (data ?? {}) as Record<string, string>);
  const hasSameKeys = isDeepStrictEqual(Object.keys(before).sort(), Object.keys(after).sort());
  return hasSameKeys && before.known_hosts === after.known_hosts;
}
