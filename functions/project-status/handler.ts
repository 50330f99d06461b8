import { FLUX_STATUS, STATUS_OWNER } from '../../shared/config/project-config.ts';
import { CREATION_REFUSED, CreationRefusedError } from '../../shared/gardener/creation-refused.ts';
import { createEvent, eventAbout, normal, warning } from '../../shared/gardener/event.ts';
import { isOurs } from '../../shared/gardener/gate.ts';
import { isHibernated } from '../../shared/gardener/operation.ts';
import { clusterOf, extensionOf } from '../../shared/gardener/read-objects.ts';
import { rolloutIn, secondsUntilOver } from '../../shared/gardener/rollout.ts';
import {
  findStatusMap,
  hasTooManyKeys,
  isOwn,
  type Line,
  MOST_KEYS,
  publishedLine,
  shootAfter,
} from '../../shared/gardener/status-map.ts';
import type { Extension, Shoot } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { DNS_LABEL, type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { epochSeconds, growingPause, secondsSince } from '../../shared/runtime/growing-pause.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { type FluxState, fluxState, isElsewhere, rolloutNews } from './flux-state.ts';
import { recordInLandscape } from './landscape.ts';
import { fieldManager, type Place, type Published, publish } from './publish.ts';
import { type Result, wakeNext } from './rollout.ts';
import { isHealthy, lineToShow, secondsUntilShown, transition } from './shown-line.ts';

/** A Shoot wakes up in minutes. */
const WAKING_SECONDS = 60;

/** API servers have just deleted the Event about it, which keeps its name. A right or webhook that changes wakes no function. */
const REFUSED_SECONDS = 3700;

/** Publishes the state of one Shoot in its project; the Extension alone decides about most runs. */
export const handler: Handler = async (key, context) => {
  const seed = await context.kube(key.cluster);
  const found = await seed.find(resources.extensions, key);
  const extension = found && extensionOf(found);
  if (extension !== undefined && (!isOurs(extension) || isElsewhere(extension))) return done;
  const state = extension && extension.metadata.deletionTimestamp === undefined ? fluxState(extension) : undefined;
  const early = state && secondsUntilShown(state, context.now());
  if (early !== undefined) return requeueAfter(early);
  const shoot = await readShoot(seed, key.namespace);
  const inLandscape = `${key.cluster}/${key.namespace}`;
  // Without its Cluster, a Shoot has no name. During a migration, the other seed reports.
  if (shoot === undefined || (state === undefined && isMigrating(shoot)))
    return state === undefined ? leaveLandscape(inLandscape, context) : done;
  const reported = shoot.metadata.deletionTimestamp === undefined ? state : undefined;
  return report({ shoot, state: reported, extension, inLandscape }, context);
};

/** Frees the place of a Shoot that has left this seed: nothing more is heard of it under this name. */
async function leaveLandscape(shoot: string, context: Context): Promise<Outcome> {
  if (context.settings.rollout === undefined) return done;
  const left = {
    shoot,
    revision: undefined,
    end: 'gone',
    wasHealthy: false,
    now: epochSeconds(context.now()),
  } as const;
  const over = await recordInLandscape(await context.kube(GARDEN), left, context);
  return over === undefined ? done : requeueAfter(over);
}

interface Reported {
  shoot: Shoot;
  /** Undefined: the extension is leaving the Shoot, or has left it. */
  state: FluxState | undefined;
  extension: Extension | undefined;
  /** As the rollout of the landscape calls the Shoot. */
  inLandscape: string;
}

async function report({ shoot, state, extension, inLandscape }: Reported, context: Context): Promise<Outcome> {
  const rollout = extension && rolloutNews(extension);
  const { name, namespace = '' } = shoot.metadata;
  const garden = await context.kube(GARDEN);
  const live = await findStatusMap(garden, namespace);
  const now = context.now();
  if (live !== undefined && !isOwn(live)) {
    // Members who removed the extension need no advice about its status.
    if (state !== undefined) await createEvent(garden, foreignEvent(live, now), fieldManager);
    // They cannot hold up what operators change in other projects.
    const shown = state && lineToShow(state, { isHibernated: isHibernated(shoot), published: undefined, now });
    const end = shown === undefined ? 'gone' : endOf(shown.line, shoot, rollout?.isJudged === true);
    const result = { revision: rollout?.landscape, end, wasHealthy: false, now: epochSeconds(now) };
    const over = await recordInLandscape(garden, { ...result, shoot: inLandscape }, context);
    const untilChange = context.settings.rollout && shown?.againIn;
    return outcomeOf({ type: 'unchanged' }, [untilChange, over], context);
  }
  const place = { garden, namespace, shoot: name };
  const published = publishedLine(live, name);
  const resultOf = (end: Result['end']): Result => ({
    ...{ shoot: name, revision: rollout?.revision, wasHealthy: isHealthy(published) },
    ...{ end, now: epochSeconds(now) },
  });
  if (state === undefined) {
    const removed = await publish(place, live, undefined, undefined, resultOf('gone'));
    await wakeNext(place, removed, context);
    const over = await recordInLandscape(garden, { ...resultOf('gone'), shoot: inLandscape }, context);
    return outcomeOf(removed, [untilOver(removed, live, now), over], context);
  }
  const { fluxVersion: flux, warnings: [warned] = [] } = extension?.status?.state?.applied ?? {};
  const { line, againIn } = lineToShow(state, { isHibernated: isHibernated(shoot), flux, warned, published, now });
  // Before the line: a run that is killed in between finds the same transition again, and creates the same Event.
  const event = transitionEvent(shoot, { line, published, since: state.since }, now);
  if (event !== undefined) await createEvent(garden, event, fieldManager);
  const end = endOf(line, shoot, rollout?.isJudged === true);
  // A sleeping Shoot gives up its place, even while the project is suspended.
  const result = resultOf(rollout?.isSuspended === true && end !== 'gone' ? 'open' : end);
  const gone = await leftover(place, live);
  const written = await publish(place, live, line, gone, result).catch((error: unknown) =>
    reportRefusal(garden, shoot, error, context),
  );
  if (rollout !== undefined) await wakeNext(place, written, context);
  // Of thousands of Shoots, users break some all the time, long after the operators have changed them. What these have
  // changed is judged by Flux itself, also while a project suspends what Flux works on.
  const wasHealthy = result.wasHealthy && rollout?.isFluxDown === true;
  const ofLandscape = { ...resultOf(end), shoot: inLandscape, revision: rollout?.landscape, wasHealthy };
  const over = await recordInLandscape(garden, ofLandscape, context);
  const untilChange = againIn ?? secondsWhileWaking(shoot, now);
  const untilRetry = written.type === 'not created' ? REFUSED_SECONDS : undefined;
  return outcomeOf(written, [untilChange, untilOver(written, live, now), untilRetry, over], context);
}

/** Seconds until the next run that may end a rollout: a silent Shoot causes no run, so a timer is needed. */
function untilOver(written: Published, live: KubeObject | undefined, now: Date): number | undefined {
  const ongoing = rolloutIn(written.type === 'written' ? written.map : live);
  return ongoing && secondsUntilOver(ongoing, epochSeconds(now));
}

/** Returns what a line means for a rollout. @param isJudged true: a failure is about the revision that the Shoot has */
function endOf({ state }: Line, { spec }: Shoot, isJudged: boolean): Result['end'] {
  if (state === 'Ready') return 'ready';
  // A Shoot that wakes up may have a place already.
  if (state === 'Hibernated') return spec?.hibernation?.enabled === true ? 'gone' : 'open';
  return state === 'Not Ready' && isJudged ? 'not ready' : 'open';
}

/**
 * Returns the Shoot whose line comes next, if it no longer exists: its Extension and Cluster were gone before a run could
 * see it. A garden that does not serve Shoots now has none of them, also not this one.
 */
async function leftover(
  { garden, namespace, shoot }: Place,
  live: KubeObject | undefined,
): Promise<string | undefined> {
  const next = shootAfter(live, shoot);
  if (next === undefined) return undefined;
  const find = (name: string) => garden.find(resources.shoots, { namespace, name }, { metadataOnly: true });
  if (!DNS_LABEL.test(next) || (await find(next)) !== undefined) return undefined;
  return (await find(shoot)) === undefined ? undefined : next;
}

/** Reports why the state is not shown. A ConfigMap that members create wakes this function. */
async function reportRefusal(garden: KubeClient, shoot: Shoot, error: unknown, context: Context): Promise<Published> {
  if (!(error instanceof CreationRefusedError)) throw error;
  const notice = warning(CREATION_REFUSED, error.message);
  const event = eventAbout(resources.shoots, shoot.metadata, notice, context.now(), [CREATION_REFUSED]);
  await createEvent(garden, event, fieldManager);
  context.log.warn('project status not written', { error: describeError(error) });
  return { type: 'not created' };
}

/** @param checks seconds until something asks for a run; undefined: nothing does */
function outcomeOf(published: Published, checks: (number | undefined)[], { log }: Context): Outcome {
  if (published.type === 'overtaken') return requeueAfter(published.afterSeconds);
  const why = REFUSED[published.type];
  if (why)
    log.warn('project status not written', { error: `The state of the Shoot is not shown in its project: ${why}.` });
  const seconds = checks.filter((one) => one !== undefined);
  return seconds.length === 0 ? done : requeueAfter(Math.min(...seconds));
}

const REFUSED: Partial<Record<Published['type'], string>> = {
  'no room': 'its ConfigMap flux-status is full: there are too many Shoots in the project',
  refused: 'the API server refuses its ConfigMap flux-status; delete it if it is immutable or holds other content',
};

async function readShoot(seed: KubeClient, namespace: string): Promise<Shoot | undefined> {
  const found = await seed.find(resources.clusters, { name: namespace });
  const shoot = found && clusterOf(found)?.spec.shoot;
  const names = [shoot?.metadata.name, shoot?.metadata.namespace];
  return names.every((name) => name !== undefined && DNS_LABEL.test(name)) ? shoot : undefined;
}

function isMigrating({ status }: Shoot): boolean {
  const type: string | undefined = status?.lastOperation?.type;
  return type === 'Migrate' || type === 'LiveMigrate' || type === 'Restore';
}

/** Seconds until the next check of a Shoot that wakes up: when it is awake only the Cluster changes, which wakes no function. */
function secondsWhileWaking({ spec, status }: Shoot, now: Date): number | undefined {
  if (spec?.hibernation?.enabled === true || status?.hibernated !== true) return undefined;
  return growingPause(secondsSince(status.lastOperation?.lastUpdateTime, now), WAKING_SECONDS);
}

/** Returns the Event of a transition; the same one whenever a run reports it, and undefined where there is none. */
function transitionEvent(
  shoot: Shoot,
  { line, published, since }: { line: Line; published: Line | undefined; since: string },
  now: Date,
): KubeObject | undefined {
  const health = transition(published, line, since, now);
  if (health === undefined) return undefined;
  const identity = [health, since, published?.since ?? ''];
  const notice =
    health === 'healthy'
      ? normal('FluxReady', 'Flux is Ready.')
      : warning('FluxNotReady', `Flux is not Ready: ${safeText(line.sentence ?? '', LONGEST_SENTENCE)}`);
  return eventAbout(resources.shoots, shoot.metadata, notice, now, identity);
}

/** Conditions have been checked for secrets, and quote at most half of this. */
const LONGEST_SENTENCE = 1000;

/** Returns the Event on a ConfigMap of this name that is not ours, which is never changed. */
function foreignEvent(map: KubeObject, now: Date): KubeObject {
  const isFull = hasTooManyKeys(map);
  const why = isFull ? `has more than ${MOST_KEYS} keys` : 'was not created by shoot-flux';
  const orLabel = isFull ? '' : `, or label it ${STATUS_OWNER.label}=${STATUS_OWNER.value},`;
  const message =
    `ConfigMap ${map.metadata.namespace}/${FLUX_STATUS} ${why} and is left alone; ` +
    `delete or rename it${orLabel} to see the state of Flux in your Shoots here.`;
  return eventAbout(resources.configMaps, map.metadata, warning('NotOurs', message), now);
}
