import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  FLUX_CONFIG,
  FLUX_PUSH,
  FLUX_SOURCE,
  FLUX_STATUS,
  OPERATORS_NAMESPACE,
  PUSHED,
  projectSecretNames,
} from '../../shared/config/project-config.ts';
import { type PushRequest, pushRequestOf } from '../../shared/config/push.ts';
import { suspensionOf } from '../../shared/config/suspension.ts';
import { landscapeRolloutIn } from '../../shared/gardener/rollout.ts';
import { changesFor, changesInLandscape, type Receiver } from '../../shared/gardener/shoot-changes.ts';
import {
  causeOfStatus,
  createStatusMap,
  findStatusMap,
  isOwn,
  SUSPENDED_TEXT,
} from '../../shared/gardener/status-map.ts';
import type { Shoot } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { GoneError } from '../../shared/kube/errors.ts';
import { listPage } from '../../shared/kube/pages.ts';
import { type KubeObject, type ObjectMeta, type Resource, resources } from '../../shared/kube/resource.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { GARDEN, type ReconcileKey } from '../../shared/runtime/key.ts';
import { done, type Outcome } from '../../shared/runtime/outcome.ts';
import { fieldsOf } from '../../shared/shapes.ts';
import { definition } from './function.ts';

/** How long a run begins new pages; a page may take as long as a call, and the function has ten seconds. */
const PAGES_MS = 4_000;

/**
 * After a page, the API server and this process are free for others for this share of the time that the page took:
 * 5,000 Shoots are 65 MB to encode, send and decode.
 */
const REST = 0.5;

/**
 * Sends one change for each Shoot of the project, with the key of its Extension in the seed: to `managed-resources`, to
 * `project-status` where `flux-status` has to be written again, or to `push` where a Git host has reported a push.
 */
export const handler: Handler = (key, context) => fanOut(key, context, PAGES_MS);

/** As `handler`. @param pagesMs when the time is up, a follow-up change carries the rest */
export async function fanOut(key: ReconcileKey, context: Context, pagesMs: number): Promise<Outcome> {
  const started = performance.now();
  const garden = await context.kube(key.cluster);
  if (key.name === FLUX_STATUS && key.namespace === OPERATORS_NAMESPACE) await wakeLandscape(garden, context);
  const pass = await passOf(garden, key, context);
  if (pass === undefined) return done;
  const { cause, receiver, config } = pass;
  const pages = pagesOf(garden, key.namespace, (error) => {
    // Its resync reaches it; the Shoots after it do not wait for it.
    context.log.warn('shoot skipped', { error: error.message });
  });
  let position: Position | undefined = beginning(context.causes);
  if (position.hop === 0 && config !== undefined) await showSuspension(garden, key.namespace, config, context);
  let sent = 0;
  for (;;) {
    const before = performance.now();
    const page = await pages(position);
    const took = performance.now() - before;
    const changes = page.shoots.flatMap((shoot) =>
      receiver === 'push' && isAsleep(shoot) ? [] : changesFor(shoot, context.settings.seeds, cause, receiver),
    );
    if (changes.length > 0) await context.send(changes);
    sent += changes.length;
    position = next(position, page.names, page.token);
    const rest = took * REST;
    // The next page begins after the rest: it must leave the time that a page may take.
    if (position === undefined || performance.now() - started + rest >= pagesMs) break;
    await sleep(rest);
  }
  if (position !== undefined) await sendRest(key, context, position, cause);
  context.log.info('changes forwarded', { changes: sent, ...(position !== undefined && { after: position.after }) });
  return done;
}

const fieldManager = 'shoot-flux-fan-out';

/**
 * Shows in `flux-status` who has suspended the project: one write for all of its Shoots. Best effort: it must not hold up
 * the Shoots.
 */
async function showSuspension(
  garden: KubeClient,
  namespace: string,
  { annotations }: ObjectMeta,
  context: Context,
): Promise<void> {
  const text = suspensionOf(annotations);
  try {
    const live = await findStatusMap(garden, namespace);
    if (live === undefined && text === undefined) return;
    const map = live ?? (await createStatusMap(garden, namespace, fieldManager));
    if (!isOwn(map) || fieldsOf(map.data)?.[SUSPENDED_TEXT] === text) return;
    // Without a version: Shoots write their lines all the time, and only this function writes the key.
    const patch = { metadata: { uid: map.metadata.uid }, data: { [SUSPENDED_TEXT]: text ?? null } };
    await garden.mergePatch(resources.configMaps, { namespace, name: FLUX_STATUS }, patch, { fieldManager });
    // A late run may have overwritten what a newer one wrote.
    const config = await metadataOf(garden, resources.configMaps, namespace, FLUX_CONFIG);
    if (config !== undefined && suspensionOf(config.annotations) !== text)
      await showSuspension(garden, namespace, config, context);
  } catch (error) {
    context.log.warn('suspension not shown', { error: describeError(error) });
  }
}

/**
 * Wakes the Shoots that take part in the rollout of the landscape, because operators may have paused, continued or aborted
 * it. All others follow with their own checks, at the latest with the resync.
 */
async function wakeLandscape(garden: KubeClient, { settings, send }: Context): Promise<void> {
  const map = await findStatusMap(garden, OPERATORS_NAMESPACE);
  const state = landscapeRolloutIn(map);
  if (map === undefined || state === undefined) return;
  const names = [...state.failed, ...state.inProgress.keys(), ...state.waiting.keys()];
  const changes = changesInLandscape(names, settings.seeds, causeOfStatus(map));
  if (changes.length > 0) await send(changes);
}

interface Pass {
  cause: ForwardedCause;
  receiver: Receiver;
  /** The metadata of `flux-config`, which says who has suspended the project. Without it, the Shoots stay as they are. */
  config?: ObjectMeta | undefined;
}

/** Reads only the metadata: the content of Secrets never leaves the garden. */
async function metadataOf(garden: KubeClient, resource: Resource, namespace: string, name: string) {
  return (await garden.find(resource, { namespace, name }, { metadataOnly: true }))?.metadata;
}

/** Decides what is sent, and to which function; undefined: nothing. */
async function passOf(
  garden: KubeClient,
  key: ReconcileKey,
  { causes, now, signal }: Context,
): Promise<Pass | undefined> {
  const read = (resource: Resource, name: string) => metadataOf(garden, resource, key.namespace, name);
  if (key.name === FLUX_PUSH) {
    const secret = await read(resources.secrets, FLUX_PUSH);
    const time = now().getTime();
    const request = pushRequestOf(secret?.annotations?.[PUSHED], time);
    if (request === undefined) return undefined;
    // Some seconds at most. What is pushed meanwhile is part of the request, or makes one more run.
    await sleep(Math.max(0, request.at - time), undefined, { signal });
    // A push does not change the suspension, and must not wait for it.
    return { cause: pushCause(key, request), receiver: 'push' };
  }
  const isRebuilt = key.name === FLUX_STATUS;
  const [config, ...secrets] = await Promise.all([
    read(resources.configMaps, FLUX_CONFIG),
    ...(isRebuilt ? [] : SECRETS.map((name) => read(resources.secrets, name))),
  ]);
  if (isRebuilt) return { cause: rebuildCause(key, causes), receiver: 'project-status', config };
  const versions = { config, secrets: SECRETS.map((name, index) => ({ name, version: secrets[index] })) };
  return { cause: forwardedCause(key, versions, causes), receiver: 'managed-resources', config };
}

/** Returns the cause with which each Shoot asks its sources: the same in every attempt. */
function pushCause({ namespace }: ReconcileKey, { at, repositories }: PushRequest): ForwardedCause {
  const resourceVersion = new Date(at).toISOString();
  return {
    ...about(resources.secrets, namespace, FLUX_PUSH),
    uid: 'pushed',
    resourceVersion,
    also: repositories.join(','),
  };
}

/** Its API server does not answer, and its Flux fetches when it wakes up. */
function isAsleep({ spec, status }: Shoot): boolean {
  return spec?.hibernation?.enabled === true || status?.hibernated === true;
}

async function sendRest(key: ReconcileKey, context: Context, position: Position, forwarded: ForwardedCause) {
  const rest = continuation(position, forwarded);
  // Too many Shoots, or an API server that takes seconds for each: their resync reaches the others.
  if (rest === undefined) context.log.warn('changes not forwarded', { after: position.after });
  else await context.send([{ function: definition.name, key, cause: rest }]);
}

/** A page of so many Shoots arrives within moments, although each Shoot may have some hundred kilobytes. */
const PAGE = 100;

/** Lists the Shoots of a project in pages that fit into an answer. */
function pagesOf(garden: KubeClient, namespace: string, onUnreadable: (error: Error) => void) {
  let limit = PAGE;
  let hasExpired = false;
  return async ({ after, token }: Position) => {
    for (let from = token; ; ) {
      try {
        const options = { namespace, limit, continue: from, onUnreadable };
        const page = await listPage<KubeObject & Shoot>(garden, resources.shoots, options);
        // Not again in this run: the Shoots of a project are of similar size.
        limit = page.limit;
        const names = page.items.map(({ metadata }) => metadata.name);
        // A list is sorted by name.
        return { shoots: page.items.filter(({ metadata }) => metadata.name > after), names, token: page.continue };
      } catch (error) {
        // An API server keeps the state of a list for some minutes. Restart it only once: if each page expired at once, the
        // list would never end.
        if (!(error instanceof GoneError) || from === undefined || hasExpired) throw error;
        hasExpired = true;
        from = undefined;
      }
    }
  };
}

/** The cause that is forwarded: an object's, so that it carries no attempts of this function to others. */
export type ForwardedCause = Cause & { type: 'object' };

/** Identities of a project's configuration and Secrets, as they are in the garden. */
export interface Versions {
  config: Pick<ObjectMeta, 'uid' | 'resourceVersion'> | undefined;
  /** Of the Secrets of the project, always in the same order. */
  secrets: { name: string; version: Pick<ObjectMeta, 'uid' | 'resourceVersion'> | undefined }[];
}

const SECRETS = [FLUX_SOURCE, ...projectSecretNames];

/**
 * Returns the cause to forward. It follows from what was read and not from what woke this run: causes of several edits
 * collapse into one run, and the queue would drop the newest edit as a duplicate of an older one. A repeated run forwards
 * the same cause again, which the queue drops. An absent object has no version, so the causes take its place; for a
 * Secret those that are about it, because most projects lack some of them.
 */
export function forwardedCause({ namespace }: ReconcileKey, versions: Versions, causes: Cause[]): ForwardedCause {
  const { config, secrets } = versions;
  const absent = (reasons: Cause[]) => `absent-${digest(reasons.map(identity).sort())}`;
  const ofSecret = (name: string) =>
    causes.filter((cause) => cause.type === 'object' && cause.kind === 'Secret' && cause.name === name);
  return {
    ...about(resources.configMaps, namespace, FLUX_CONFIG),
    uid: config?.uid ?? 'absent',
    resourceVersion: config?.resourceVersion ?? absent(causes),
    ...(config === undefined && { deleted: true }),
    also: digest(
      secrets.flatMap(({ name, version }) => [
        version?.uid ?? 'absent',
        version?.resourceVersion ?? absent(ofSecret(name)),
      ]),
    ),
    // After a start there may be thousands; they are handled last.
    ...(causes.length > 0 && causes.every((cause) => 'listed' in cause && cause.listed === true) && { listed: true }),
  };
}

/**
 * Returns the cause with which each Shoot writes its line again. Nothing of the ConfigMap is read, so it follows from the
 * causes. Nothing waits for it, so it is handled last, like everything that is found by a list.
 */
function rebuildCause({ namespace }: ReconcileKey, causes: Cause[]): ForwardedCause {
  const also = digest(causes.map(identity).sort());
  const version = { uid: 'rebuilt', resourceVersion: `rebuilt-${also}` };
  return { ...about(resources.configMaps, namespace, FLUX_STATUS), ...version, also, listed: true };
}

const about = ({ kind }: Resource, namespace: string, name: string) =>
  ({ type: 'object', cluster: GARDEN, kind, namespace, name }) as const;

/** Without the flags, which a repetition of the same change may lack. */
function identity(cause: Cause): string {
  const { awaited: _, listed: __, attempt: ___, ...rest } = { awaited: 0, listed: 0, attempt: 0, ...cause };
  return JSON.stringify(Object.entries(rest).sort());
}

function digest(texts: string[]): string {
  return hash('sha256', texts.join('\n'), 'base64url').slice(0, 12);
}

/** How far the listing of the Shoots of a project has come. */
export interface Position {
  /** Name of the last Shoot that was notified; empty at the start. */
  after: string;
  /** The API server's token for the rest; absent at the start, and after the token has expired. */
  token?: string | undefined;
  /** Runs of this listing before this one. */
  hop: number;
  /** True: when this listing ends another one follows, because something changed meanwhile. */
  again: boolean;
}

/**
 * The most runs of a listing, enough for tens of thousands of Shoots. A longer one stops; the remaining Shoots are
 * reconciled at their next resync.
 */
export const MOST_HOPS = 200;

/** A longer token does not fit into a change; the list then begins again, after the Shoots that were notified. */
const LONGEST_TOKEN = 4096;

/** Where a listing begins. */
export const START: Position = { after: '', hop: 0, again: false };

/**
 * Returns where a run begins. A listing under way is continued from its earliest position, and what changed meanwhile
 * gets another one after it: if every change began at the start, a project that is edited all the time would never
 * reach its last Shoots.
 */
export function beginning(causes: Cause[]): Position {
  const rests = causes.filter((cause) => cause.type === 'continue');
  const [first] = rests.toSorted((a, b) => (a.after < b.after ? -1 : 1));
  if (first === undefined) return START;
  const { after, token, hop } = first;
  const again = rests.length < causes.length || rests.some((rest) => rest.again === true);
  return { after, token, hop, again };
}

/** Returns where the listing continues after a page; undefined when it has ended. */
export function next(position: Position, names: string[], token: string | undefined): Position | undefined {
  const last = names.at(-1) ?? '';
  if (token !== undefined) return { ...position, after: last > position.after ? last : position.after, token };
  return position.again ? { ...START } : undefined;
}

/** Returns the cause with which a listing continues in the next run; undefined when the listing has taken too many. */
export function continuation(
  { after, token, hop, again }: Position,
  { uid, resourceVersion, also, listed }: ForwardedCause,
): (Cause & { type: 'continue' }) | undefined {
  if (hop + 1 >= MOST_HOPS) return undefined;
  // Two listings of the same Shoots have equal tokens, also when they report different edits.
  const state = `${uid}.${resourceVersion}.${also}`;
  const place = token !== undefined && token.length <= LONGEST_TOKEN ? { after, token } : { after };
  return { type: 'continue', ...place, hop: hop + 1, state, ...(again && { again }), ...(listed && { listed }) };
}
