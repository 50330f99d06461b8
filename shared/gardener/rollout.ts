import * as z from 'zod/mini';
import { CONTINUE } from '../config/project-config.ts';
import type { Amount } from '../config/rollout.ts';
import { DNS_LABEL, type KubeObject } from '../kube/resource.ts';
import { fieldsOf, parsedJson } from '../shapes.ts';

/** So many Shoots are listed, whatever the project writes: the state is stored with each change. */
export const MOST_WAITING = 100;
export const MOST_IN_PROGRESS = 500;
export const MOST_FAILED = 500;

/** A longer text is not ours: so many Shoots of a landscape have room, whatever their seeds are called. */
export const LONGEST_STATE = 320 * 1024;

/** A longer request to continue is not read. */
export const LONGEST_TOKEN = 63;

const VERSION = 1;

/** The name of a Shoot in its project; in the landscape its seed and its namespace there, `SEED/shoot--PROJECT--NAME`. */
const shootName = z.string().check(z.refine((text) => DNS_LABEL.test(text) || IN_LANDSCAPE.test(text)));

/** Seeds may have dots in their names, and what serves a self-hosted Shoot has a long one. */
const IN_LANDSCAPE = /^[a-z0-9][-a-z0-9.]{0,200}\/[a-z0-9][-a-z0-9]{0,62}$/;
const count = z.int().check(z.nonnegative());
const amount = z.union([count, z.string().check(z.regex(/^\d{1,3}%$/))]);
/** The value of the label that orders the Shoots. */
const order = z.pipe(
  z.nullable(z.string().check(z.maxLength(63))),
  z.transform((label) => label ?? undefined),
);

/** Seconds since 1970. No date is later: https://tc39.es/ecma262/#sec-time-values-and-time-range */
const time = z.int().check(z.nonnegative(), z.maximum(8_640_000_000_000));

/** The format that `stateText` writes, and what it is read back as. */
const writtenState = z.pipe(
  z.object({
    version: z.literal(VERSION),
    /** Identifies what `flux-config` says, without the key `rollout`. */
    revision: z.string().check(z.regex(/^[0-9a-f]{12}$/)),
    /** Of a project, while the operators change Shoots that have this revision already: what they give them. */
    landscape: z.optional(z.string().check(z.regex(/^[0-9a-f]{12}$/))),
    /** When the first Shoot asked for it. */
    began: time,
    limits: z.object({ maxInProgress: amount, maxFailed: amount }),
    /** How many Shoots were changed. */
    done: count,
    /** The Shoots whose turn is next, and when a run has seen each of them wait; the others ask again. */
    waiting: z.array(z.tuple([shootName, order, time])).check(z.maxLength(MOST_WAITING)),
    /** The last field is 1 for a Shoot that was not Ready before, so that its failure says nothing about the edit. */
    inProgress: z.array(z.tuple([shootName, order, time, z.unknown()])).check(z.maxLength(MOST_IN_PROGRESS)),
    /** Shoots that were Ready before the change, and are not since; also while the next edit changes them. */
    failed: z.array(shootName).check(z.maxLength(MOST_FAILED)),
    /** How many failed Shoots a member has accepted by `continue`. */
    accepted: count,
    /** The last request to continue. */
    continued: z.optional(z.string().check(z.maxLength(LONGEST_TOKEN))),
    /** With a pause between the values of the order: the last value that has begun, and when a Shoot of it moved last. */
    reached: z.optional(z.object({ order, at: time })),
  }),
  z.transform(({ version: _, waiting, inProgress, failed, ...state }) => ({
    ...state,
    waiting: new Map(waiting.map(([shoot, order, seen]) => [shoot, { order, seen }])),
    inProgress: new Map(
      inProgress.map(([shoot, order, since, mark]) => [shoot, { order, since, wasNotReady: mark === 1 }]),
    ),
    failed: new Set(failed),
  })),
);

/** How far an edit has come in a project, or a change of the operators in the landscape. Kept in `flux-status`. */
export type RolloutState = z.infer<typeof writtenState>;

/** A Shoot that has not become Ready within this time has failed: also one whose control plane is gone. */
export const CHANGE_SECONDS = 1800;

/** A Shoot that has not been seen for so long does not wait any more: looks are at most a third of this apart. */
export const STALE_SECONDS = 2700;

/** Returns how many of so many Shoots may be in progress. */
export function mostInProgress({ limits }: RolloutState, shoots: number): number {
  return Math.min(MOST_IN_PROGRESS, Math.max(1, Math.ceil(amountOf(limits.maxInProgress, shoots))));
}

/** Returns how many of so many Shoots may fail before the rollout pauses. */
export function mostFailed({ limits }: RolloutState, shoots: number): number {
  return Math.floor(amountOf(limits.maxFailed, shoots));
}

function amountOf(amount: Amount, shoots: number): number {
  return typeof amount === 'number' ? amount : (Number.parseInt(amount, 10) * shoots) / 100;
}

/** Returns whether no further Shoot is changed until failed ones are Ready, or a member continues. */
export function isPaused(state: RolloutState, shoots: number): boolean {
  const { failed, accepted } = state;
  return failed.size >= MOST_FAILED || failed.size - accepted > mostFailed(state, shoots);
}

/**
 * Returns the state at a time: without Shoots that nothing was heard of.
 * @param ready the Shoots that members see Ready now: none of them is a failure, whichever revision it has
 */
export function stateAt(state: RolloutState, now: number, ready: ReadonlySet<string>): RolloutState {
  const waiting = new Map([...state.waiting].filter(([, { seen }]) => now - seen < STALE_SECONDS));
  const late = [...state.inProgress].filter(([, { since }]) => now - since >= CHANGE_SECONDS);
  const failed = new Set([...state.failed].filter((shoot) => !ready.has(shoot)));
  if (late.length === 0 && waiting.size === state.waiting.size && failed.size === state.failed.size) return state;
  const inProgress = new Map([...state.inProgress].filter(([, { since }]) => now - since < CHANGE_SECONDS));
  for (const [shoot, { wasNotReady }] of late) {
    if (!wasNotReady && !ready.has(shoot) && failed.size < MOST_FAILED) failed.add(shoot);
  }
  return { ...state, waiting, inProgress, failed };
}

/** Returns whether Shoots are waiting or being changed. */
export function isUnderWay({ waiting, inProgress }: RolloutState): boolean {
  return waiting.size + inProgress.size > 0;
}

/**
 * Returns the seconds until the last place runs out, where no Shoot waits that would look; undefined where Shoots wait, or
 * none is being changed.
 */
export function secondsUntilOver({ waiting, inProgress }: RolloutState, now: number): number | undefined {
  if (waiting.size > 0 || inProgress.size === 0) return undefined;
  const last = Math.max(...[...inProgress.values()].map(({ since }) => since));
  // Members can write any time here.
  return Math.max(1, Math.min(last - now, 0) + CHANGE_SECONDS);
}

/** Compares values of the label that orders Shoots: numbers, then texts, then those without the label. */
export function compareOrder(one: string | undefined, other: string | undefined): number {
  const [a, b] = [sortKeyOf(one), sortKeyOf(other)];
  return a.rank - b.rank || a.number - b.number || (a.text < b.text ? -1 : Number(a.text > b.text));
}

function sortKeyOf(value: string | undefined): { rank: number; number: number; text: string } {
  if (value === undefined) return { rank: 2, number: 0, text: '' };
  return /^\d{1,15}$/.test(value) ? { rank: 0, number: Number(value), text: '' } : { rank: 1, number: 0, text: value };
}

/** The keys of `flux-status` about the rollout; no Shoot has capital letters in its name. */
export const ROLLOUT_TEXT = 'Rollout';
export const ROLLOUT_STATE = 'RolloutState';

/** Label of `flux-status` while a rollout goes on: its metadata is all that the watcher sees of it. */
export const ROLLOUT_PHASE = 'flux.extensions.gardener.cloud/rollout';

/** The same for what operators change: in the `flux-status` of the namespace `garden`, which every garden has. */
export const LANDSCAPE_TEXT = 'LandscapeRollout';
export const LANDSCAPE_STATE = 'LandscapeRolloutState';
export const LANDSCAPE_PHASE = 'flux.extensions.gardener.cloud/landscape-rollout';

/** Returns the phase that a text of `rolloutText` says; null: there is no rollout, or it has ended. */
export function phaseIn(text: string | null): 'in-progress' | 'paused' | null {
  const said = /^Revision \w+ is (paused|under way)/.exec(text ?? '')?.[1];
  if (said === undefined) return null;
  return said === 'paused' ? 'paused' : 'in-progress';
}

/** Returns the state and what members read about it, as keys of `flux-status`. */
export function rolloutData(state: RolloutState, shoots: number): Record<string, string> {
  return { [ROLLOUT_TEXT]: rolloutText(state, shoots), [ROLLOUT_STATE]: stateText(state) };
}

/** At most this many failed Shoots, and seeds, are named; the line of each Shoot says what is wrong. */
const NAMED = 5;

/** What the sentence about a rollout of the landscape names. */
interface OfLandscape {
  /** The object whose annotation continues the rollout. */
  continuedBy: string;
  /** The seeds that cannot give the revision yet. */
  behind: readonly string[];
}

/** Says how far a rollout has come. */
export function rolloutText(
  state: RolloutState,
  shoots: number,
  { continuedBy, behind }: OfLandscape = { continuedBy: 'flux-config', behind: [] },
): string {
  const { revision, done, waiting, inProgress, failed } = state;
  const waits = waiting.size >= MOST_WAITING ? `at least ${MOST_WAITING}` : waiting.size;
  const counts = `${done} done, ${inProgress.size} in progress, ${waits} waiting, ${failed.size} failed`;
  const listed = failed.size === 0 ? '' : ` (${named([...failed])})`;
  if (isPaused(state, shoots)) {
    const token = tokenOf(state);
    const limit = mostFailed(state, shoots) + state.accepted;
    return `Revision ${revision} is paused, because more than ${limit} failed: ${counts}${listed}. It continues when they are Ready, or with the annotation ${CONTINUE}=${token} on ${continuedBy}.`;
  }
  const isOver = !isUnderWay(state) && behind.length === 0;
  const missing = behind.length === 0 ? '' : ` Seeds that do not have it yet: ${named(behind)}.`;
  return `Revision ${revision} ${isOver ? 'has ended' : 'is under way'}: ${counts}${listed}.${missing}`;
}

const named = (all: readonly string[]) => [...all.slice(0, NAMED), ...(all.length > NAMED ? ['…'] : [])].join(', ');

/** A request counts once, so the next one has another value, also where as many Shoots have failed as before. */
function tokenOf({ revision, failed, continued }: RolloutState): string {
  const token = `${revision}.${failed.size}`;
  return token === continued ? `${token}.again` : token;
}

/** Returns a state as text. */
export function stateText({ waiting, inProgress, failed, reached, ...rest }: RolloutState): string {
  return JSON.stringify({
    version: VERSION,
    ...rest,
    ...(reached && { reached: { ...reached, order: reached.order ?? null } }),
    waiting: [...waiting].map(([shoot, { order, seen }]) => [shoot, order ?? null, seen]),
    inProgress: [...inProgress].map(([shoot, { order, since, wasNotReady }]) => [
      shoot,
      order ?? null,
      since,
      wasNotReady ? 1 : 0,
    ]),
    failed: [...failed],
  });
}

/** Reads the state of the landscape's rollout; undefined: there is none of ours. */
export function landscapeRolloutIn(map: KubeObject | undefined): RolloutState | undefined {
  return readState(fieldsOf(map?.data)?.[LANDSCAPE_STATE]);
}

/** Reads the state in `flux-status`; undefined: there is none of ours. */
export function rolloutIn(map: KubeObject | undefined): RolloutState | undefined {
  return readState(fieldsOf(map?.data)?.[ROLLOUT_STATE]);
}

/** Reads a state; undefined: the text is none of ours. Members of the project may have edited it. */
export function readState(text: unknown): RolloutState | undefined {
  if (typeof text !== 'string' || text.length > LONGEST_STATE) return undefined;
  return writtenState.safeParse(parsedJson(text)).data;
}
