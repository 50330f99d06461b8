import { CONTINUE, OPERATORS_NAMESPACE } from '../../../shared/config/project-config.ts';
import { type LandscapeRollout, landscapeLimits, selectsProjects, waveOf } from '../../../shared/config/rollout.ts';
import { suspensionOf } from '../../../shared/config/suspension.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { distributionAt } from '../../../shared/flux/distribution.ts';
import { isReady } from '../../../shared/gardener/checked.ts';
import { CreationRefusedError } from '../../../shared/gardener/creation-refused.ts';
import {
  announced,
  canGive,
  documentsOf,
  type Given,
  LANDSCAPE,
  type LandscapeState,
  landscapeData,
  landscapeIn,
  landscapeText,
  programOf,
  targetOf,
} from '../../../shared/gardener/landscape.ts';
import { secondsUntilWindow } from '../../../shared/gardener/maintenance-window.ts';
import {
  LANDSCAPE_TEXT,
  landscapeRolloutIn,
  phaseIn,
  type RolloutState,
  stateText,
} from '../../../shared/gardener/rollout.ts';
import { shootFacts, traitLabels } from '../../../shared/gardener/shoot-facts.ts';
import { isOwn, patchStatusMap, secondsAfterOvertaken } from '../../../shared/gardener/status-map.ts';
import type { Applied, Shoot } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { epochSeconds } from '../../../shared/runtime/growing-pause.ts';
import { GARDEN } from '../../../shared/runtime/key.ts';
import { type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { textAt } from '../../../shared/shapes.ts';
import { type ControlPlane, fieldManager } from '../read/control-plane.ts';
import type { Run } from '../run.ts';
import { admit, begun, type Candidate } from './admit.ts';
import { type Asked, changesRunning, findOrCreate, isSameContent, pauseOf } from './rollout.ts';

/** How far the operators' changes have come, as one run finds it. */
export interface FoundLandscape {
  garden: KubeClient;
  /** The `flux-status` of the landscape. */
  map: KubeObject;
  rollout: LandscapeRollout;
  /** What every Shoot should get. */
  target: Given;
  /** What this Shoot has; undefined: nothing yet, or it is no longer known. */
  has: Given | undefined;
  /** False: another version of shoot-flux has to give the target, or it names releases that this one does not have. */
  canGive: boolean;
  /** What renders the objects of this process. */
  program: string;
}

/**
 * Reads what the operators give the Shoots, after it has said there what this process was given (decision 96).
 * @returns undefined: the landscape has no rollout, so everything counts at once
 */
export async function findLandscape(
  { context, seedName }: Run,
  { previous }: ControlPlane,
): Promise<FoundLandscape | Outcome | undefined> {
  const { rollout, defaults, policy, addons, fluxDistribution } = context.settings;
  if (rollout === undefined) return undefined;
  const garden = await context.kube(GARDEN);
  const map = await findOrCreate(garden, OPERATORS_NAMESPACE);
  if (map instanceof CreationRefusedError) throw new RetryableError(map.message);
  if (!isOwn(map)) throw new RetryableError(NOT_OURS);
  const releases = await distributionAt(fluxDistribution).versions();
  const program = programOf(context.settings);
  const documents = { defaults, policy, addons, releases, program };
  const announcement = { seed: seedName, documents, startedAt: STARTED_AT };
  const { annotations } = map.metadata;
  const found = (map: KubeObject, state: LandscapeState): FoundLandscape => {
    const target = givenBy(state, targetOf(state, annotations)) ?? { revision: '', documents };
    const has = givenBy(state, previous?.landscape);
    return { garden, map, rollout, target, has, canGive: canGive(target.documents, documents), program };
  };
  const live = landscapeIn(map);
  const state = announced(live, announcement, annotations);
  if (state === live) return found(map, state);
  const underWay = landscapeRolloutIn(map);
  const data = { [LANDSCAPE]: landscapeText(state), ...(underWay && landscapeData(underWay, map, state)) };
  const written = await patchStatusMap(garden, map, data, fieldManager);
  return written === undefined ? requeueAfter(secondsAfterOvertaken(OFTEN)) : found(written, state);
}

/** When this process began: it stays the same where a process sleeps between its runs, or its clock is set. */
const STARTED_AT = Math.floor(performance.timeOrigin / 1000);

/** So many runs write at the same moment when a process has a new configuration. */
const OFTEN = 50;

const NOT_OURS =
  'ConfigMap garden/flux-status, which holds the rollout of the landscape, is not written by shoot-flux; the operators of this landscape have to delete or rename it.';

function givenBy(state: LandscapeState, revision: string | undefined): Given | undefined {
  const documents = documentsOf(state, revision);
  return revision === undefined || documents === undefined ? undefined : { revision, documents };
}

/** Returns what a run reads the configuration with first: what the Shoot should get, or has if this process cannot give that. */
export function firstGiven({ target, has, canGive }: FoundLandscape, previous: Applied | undefined): Given {
  return canGive || previous === undefined ? target : (has ?? target);
}

/** What a Shoot gets in this run. */
export interface Turn {
  asked: Asked;
  /** True: the last applied objects stay as they are. */
  isKept?: boolean;
  /** Seconds until it is looked at again, because its turn is still to come. */
  again?: number;
  /** Takes its place, before anything is written. @returns undefined when it has one */
  take?: () => Promise<Outcome | undefined>;
}

/**
 * Decides whether a Shoot gets what the operators have changed, or what it has until its turn. Nothing of a Shoot waits
 * that does not differ, and edits of its users never do, unless what it has is no longer known.
 * @param next what it gets with `firstGiven`
 * @param askFormer what it gets with what it has
 */
export async function inItsTurn(
  run: Run,
  found: FoundLandscape,
  next: Asked,
  askFormer: (has: Given) => Promise<Asked>,
): Promise<Turn> {
  const { previous } = next.controlPlane;
  const { target, has, canGive, program } = found;
  if (previous === undefined) return asItIs(run, found, next);
  if (!canGive || previous.landscape === target.revision || !differs(run, next)) {
    await endFormer(run, found);
    return canGive ? { asked: next } : asItIs(run, found, next);
  }
  const former = has && (await askFormer(has));
  // What another version has rendered is not known: both of these are rendered by this one.
  const isRendered = has?.documents.program === program;
  if (former !== undefined && isRendered && isSame(former, next)) return { asked: next };
  const live = landscapeRolloutIn(found.map);
  const candidate = await candidateOf(run, found);
  const { isAdmitted, state } = admit(live, candidate);
  if (isAdmitted && !isSuspended(found))
    return { asked: givenTo(next, target.revision), take: () => write(found, live, state) };
  const overtaken = await write(found, live, state);
  const again = overtaken?.type === 'requeue' ? overtaken.afterSeconds : pauseOf(state, candidate);
  if (former === undefined) return { asked: next, isKept: true, again };
  // What it has cannot be given any more, for example because a release has left the distribution.
  if (former.plan === undefined && next.plan !== undefined) return { asked: next, isKept: true, again };
  return { ...asItIs(run, found, former), again };
}

/** Records what it was given also where that is an obstacle. */
function givenTo(asked: Asked, landscape: string): Asked {
  const { plan, controlPlane } = asked;
  if (plan !== undefined) return asked;
  const obstacle = { ...asked.obstacle };
  if ('record' in obstacle && obstacle.record !== undefined) obstacle.record = { ...obstacle.record, landscape };
  const previous = controlPlane.previous && { ...controlPlane.previous, landscape };
  return { ...asked, obstacle, controlPlane: { ...controlPlane, previous } };
}

/** With another version of shoot-flux, only what was edited since reaches the Shoot, and nothing where what it has is not known. */
function asItIs({ operation }: Run, { has, program }: FoundLandscape, asked: Asked): Turn {
  const { plan, controlPlane } = asked;
  // On a new seed there is nothing to keep.
  if (plan === undefined || !changesRunning(plan, controlPlane, operation)) return { asked };
  const isEdited = plan.record.configHash !== controlPlane.previous?.configHash;
  return { asked, isKept: has === undefined || (has.documents.program !== program && !isEdited) };
}

/** Ends the rollout of what has been replaced or aborted, where no Shoot begins the next one. Best effort. */
async function endFormer(run: Run, found: FoundLandscape): Promise<void> {
  const { map, rollout, target } = found;
  const live = landscapeRolloutIn(map);
  // It is also under way while seeds are behind, which only its text says.
  const isOver = phaseIn(textAt(map.data, LANDSCAPE_TEXT) ?? null) === null;
  if (live === undefined || live.revision === target.revision || (isOver && live.failed.size === 0)) return;
  const { pause: _, ...limits } = landscapeLimits(rollout);
  const facts = { revision: target.revision, rollout: limits, now: epochSeconds(run.context.now()) };
  await write(
    found,
    live,
    begun(live, { ...facts, ready: new Set(), continued: map.metadata.annotations?.[CONTINUE] }),
  );
}

/** Returns whether a plan changes a running Shoot, or cannot be made. */
function differs({ operation }: Run, { plan, controlPlane }: Asked): boolean {
  return plan === undefined ? controlPlane.isBootstrapped : changesRunning(plan, controlPlane, operation);
}

function isSame(one: Asked, other: Asked): boolean {
  if (one.plan === undefined || other.plan === undefined) return one.plan === other.plan;
  return isSameContent(one.plan.record, other.plan.record);
}

const isSuspended = ({ map }: FoundLandscape) => suspensionOf(map.metadata.annotations) !== undefined;

async function candidateOf(run: Run, found: FoundLandscape): Promise<Candidate> {
  const { garden, map, rollout, target } = found;
  const { cluster, context, seedName, namespace, reporter } = run;
  const { shoot, seed } = cluster.spec;
  const { pause, ...limits } = landscapeLimits(rollout);
  const name = shootFacts(cluster, {}).facts.SHOOT_PROJECT;
  const project =
    selectsProjects(rollout) && name !== undefined
      ? await garden.find(resources.projects, { name }, { metadataOnly: true })
      : undefined;
  const labels = {
    shoot: traitLabels(shoot),
    project: project?.metadata.labels ?? {},
    seed: seed?.metadata?.labels ?? {},
  };
  const now = context.now();
  const known = `${seedName}/${namespace}`;
  return {
    ...{ shoot: known, revision: target.revision, rollout: limits, pause, shoots: 0 },
    order: waveOf(rollout, labels),
    isReady: isReady(reporter.current().status ?? {}),
    untilWindow: untilWindow(found, known, shoot, now),
    ready: new Set(),
    continued: map.metadata.annotations?.[CONTINUE],
    now: epochSeconds(now),
  };
}

/**
 * Seconds until a Shoot may begin. While the rollout is suspended it waits with the others, which are woken afterwards. What
 * has failed can only win, at any time.
 */
function untilWindow(found: FoundLandscape, known: string, { spec }: Shoot, now: Date): number {
  if (isSuspended(found)) return Number.POSITIVE_INFINITY;
  const waits = found.rollout.maintenanceWindow === true && !landscapeRolloutIn(found.map)?.failed.has(known);
  return waits ? secondsUntilWindow(spec?.maintenance?.timeWindow, now) : 0;
}

/** Writes the state to the version that was read. @returns when to try again, if others were faster */
async function write(
  { garden, map }: FoundLandscape,
  live: RolloutState | undefined,
  state: RolloutState,
): Promise<Outcome | undefined> {
  if (live !== undefined && stateText(live) === stateText(state)) return undefined;
  const written = await patchStatusMap(garden, map, landscapeData(state, map), fieldManager);
  return written === undefined ? requeueAfter(secondsAfterOvertaken(OFTEN)) : undefined;
}
