import { FLUX_STATUS, STATUS_OWNER } from '../config/project-config.ts';
import type { KubeClient } from '../kube/client.ts';
import { ConflictError, NotFoundError, unless } from '../kube/errors.ts';
import { apiVersionOf, type KubeObject, resources } from '../kube/resource.ts';
import type { Cause } from '../runtime/change-request.ts';
import { GARDEN } from '../runtime/key.ts';
import { counted, cutExactly, safeText } from '../runtime/safe-text.ts';
import { fieldsOf } from '../shapes.ts';
import { orRefused } from './creation-refused.ts';
import { LANDSCAPE_PHASE, LANDSCAPE_TEXT, phaseIn, ROLLOUT_PHASE, ROLLOUT_TEXT } from './rollout.ts';

/** The key of the summary. No Shoot has capital letters in its name, and they are sorted before all others. */
export const SUMMARY = 'Summary';

/** The key that says who has suspended the project, and why; absent: nobody. */
export const SUSPENDED_TEXT = 'Suspended';

/** What the lines of a project should not exceed together, in bytes: each write sends and stores all of them. */
const WISHED_BYTES = 256 * 1024;

/** What they never exceed: an API server stores 1 MiB, of which the names of the keys take a part once more. */
export const MOST_BYTES = 900 * 1024;

/** More lines are never written. Members may add keys: seventy thousand would take 0.1 s to go through at every run. */
export const MOST_LINES = 20_000;

/** Lines, keys of members, and those about a rollout. */
export const MOST_KEYS = 21_000;

const LONGEST_LINE = 300;
/** Room for the state and its time, and for the first words. */
const SHORTEST_LINE = 64;

/** Returns the ConfigMap before it has lines. */
export function emptyStatusMap(namespace: string): KubeObject {
  return {
    apiVersion: apiVersionOf(resources.configMaps),
    kind: resources.configMaps.kind,
    metadata: { namespace, name: FLUX_STATUS, labels: { [STATUS_OWNER.label]: STATUS_OWNER.value } },
  };
}

/**
 * Creates the ConfigMap. Two runs that do so at the same moment apply the same; lines are patched, so that no apply
 * removes any.
 * @throws CreationRefusedError
 */
export function createStatusMap(garden: KubeClient, namespace: string, fieldManager: string): Promise<KubeObject> {
  const command = (verb: string) => `kubectl ${verb} configmap ${FLUX_STATUS} --namespace ${namespace}`;
  const label = `${STATUS_OWNER.label}=${STATUS_OWNER.value}`;
  return orRefused(garden.apply(resources.configMaps, emptyStatusMap(namespace), { fieldManager }), {
    object: `ConfigMap ${namespace}/${FLUX_STATUS}`,
    remedy: `create it with \`${command('create')}\` and label it with \`${command('label')} ${label}\``,
  });
}

/** Reads the ConfigMap of a project. */
export function findStatusMap(garden: KubeClient, namespace: string): Promise<KubeObject | undefined> {
  return garden.find(resources.configMaps, { namespace, name: FLUX_STATUS });
}

/** Changes the ConfigMap as it was read. Returns it as it is then; undefined where it has changed since. */
export function patchStatusMap(
  garden: KubeClient,
  { metadata: { namespace, uid, resourceVersion } }: KubeObject,
  data: Record<string, string | null>,
  fieldManager: string,
): Promise<KubeObject | undefined> {
  const { [ROLLOUT_TEXT]: text, [LANDSCAPE_TEXT]: ofLandscape } = data;
  const labels = {
    ...(text !== undefined && { [ROLLOUT_PHASE]: phaseIn(text) }),
    ...(ofLandscape !== undefined && { [LANDSCAPE_PHASE]: phaseIn(ofLandscape) }),
  };
  const body = { metadata: { uid, resourceVersion, labels }, data };
  const name = { namespace, name: FLUX_STATUS };
  const patch = garden.mergePatch(resources.configMaps, name, body, { fieldManager });
  return unless(patch, ConflictError, NotFoundError);
}

/** Returns the cause of what a version of the ConfigMap makes necessary: every write is one of its own. */
export function causeOfStatus({ metadata: { namespace = '', uid = '', resourceVersion = '' } }: KubeObject): Cause {
  const { kind } = resources.configMaps;
  return { type: 'object', cluster: GARDEN, kind, namespace, name: FLUX_STATUS, uid, resourceVersion };
}

/** How many overtaken Shoots try again per second, on average; more would only overtake each other. */
const ATTEMPTS_PER_SECOND = 10;

/** Returns the seconds after which a Shoot tries again. */
export function secondsAfterOvertaken(shoots: number): number {
  return Math.ceil(2 + (shoots / ATTEMPTS_PER_SECOND) * Math.random());
}

/** Returns whether it is ours to read and write. One with more keys than we write lines, and some of others, is not. */
export function isOwn(map: KubeObject): boolean {
  const { labels } = map.metadata;
  return labels?.[STATUS_OWNER.label] === STATUS_OWNER.value && !hasTooManyKeys(map);
}

/** Returns whether a ConfigMap has more keys than we write, and is left alone for it. */
export const hasTooManyKeys = (map: KubeObject): boolean => countOf(map) > MOST_KEYS;

/** Returns the published line of a Shoot. */
export function publishedLine(map: KubeObject | undefined, shoot: string): Line | undefined {
  return readLine(dataOf(map)[shoot]);
}

/**
 * Returns the data of a merge patch: the Shoot's line and the summary of all, as far as they change; undefined when
 * nothing does. `no room`: the ConfigMap is full.
 * @param line undefined removes it
 * @param gone another Shoot, which no longer exists
 */
export function changesFor(
  map: KubeObject,
  shoot: string,
  line: Line | undefined,
  gone?: string,
): Record<string, string | null> | 'no room' | undefined {
  const data = dataOf(map);
  const { [shoot]: live, [SUMMARY]: summary } = data;
  const others = Object.keys(data).filter((name) => ![shoot, SUMMARY, gone].includes(name));
  const text = line && textWithin(data, others, shoot, line, live);
  if (line !== undefined && text === undefined) return 'no room';
  const lines = linesOf(map);
  const next = summaryOfStates([...others.map((name) => lines.get(name)?.state), readLine(text)?.state]);
  const changes = {
    ...(text !== live && { [shoot]: text ?? null }),
    ...(gone !== undefined && gone !== shoot && gone !== SUMMARY && Object.hasOwn(data, gone) && { [gone]: null }),
    ...(next !== summary && { [SUMMARY]: next }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** Returns the text of a line that fits beside the others; a line that is there already and says the same stays. */
function textWithin(
  data: Record<string, unknown>,
  others: readonly string[],
  shoot: string,
  line: Line,
  live: unknown,
): string | undefined {
  const share = Math.floor(WISHED_BYTES / (others.length + 1)) - overhead(shoot);
  const longest = Math.max(SHORTEST_LINE, Math.min(LONGEST_LINE, share));
  // The number of Shoots changes all the time, and with it the lengths: not a reason to write.
  if (typeof live === 'string' && live === lineText(line, bytesOf(live))) return live;
  if (others.length >= MOST_LINES) return undefined;
  const used = others.reduce((sum, name) => sum + overhead(name) + bytesOf(data[name]), 0);
  const fits = (text: string) => used + overhead(shoot) + Buffer.byteLength(text) <= MOST_BYTES;
  return [lineText(line, longest), lineText(line, 0), lineText({ ...line, flux: undefined }, 0)].find(fits);
}

/** A key counts twice: it is also in `managedFields`. With quotes, and what stands between. */
function overhead(name: string): number {
  return 2 * name.length + 16;
}

function bytesOf(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(value) : 0;
}

/** The lines of a ConfigMap, which is read several times in a run and may have 20,000 of them. */
const known = new WeakMap<KubeObject, ReadonlyMap<string, Line>>();

/** Returns the line of each Shoot by its name. */
export function linesOf(map: KubeObject | undefined): ReadonlyMap<string, Line> {
  if (map === undefined) return new Map();
  const found = known.get(map);
  if (found !== undefined) return found;
  const read = Object.entries(dataOf(map)).map(([name, text]) => [name, readLine(text)] as const);
  const lines = new Map(read.filter((entry): entry is [string, Line] => entry[1] !== undefined));
  known.set(map, lines);
  return lines;
}

/** Returns the Shoot with the next line, or the first one after the last: so each line has one Shoot before it. */
export function shootAfter(map: KubeObject | undefined, shoot: string): string | undefined {
  // API servers sort the keys, so this costs next to nothing.
  const others = [...linesOf(map).keys()].filter((name) => name !== shoot).sort();
  return others.find((name) => name > shoot) ?? others[0];
}

/** Returns the number of keys. */
export function countOf(map: KubeObject | undefined): number {
  return Object.keys(dataOf(map)).length;
}

/** Returns the names of the Shoots that have a line. */
export function shootsOf(map: KubeObject | undefined): Set<string> {
  return new Set(linesOf(map).keys());
}

/** Returns the Shoots whose line says that they are Ready. */
export function readyShootsOf(map: KubeObject | undefined): Set<string> {
  return new Set([...linesOf(map)].filter(([, { state }]) => state === 'Ready').map(([name]) => name));
}

/** Returns for example `118 Ready, 1 progressing, 1 not Ready of 120 Shoots`. */
export function summaryOf(data: Record<string, unknown>): string {
  return summaryOfStates(Object.values(data).map((text) => readLine(text)?.state));
}

/** How many Shoots are in each state. */
export type Counts = Record<Line['state'] | 'all', number>;

/** Counts the states; what is none counts nowhere. */
export function countStates(states: readonly (Line['state'] | undefined)[]): Counts {
  const counts = { 'Not Ready': 0, Progressing: 0, Hibernated: 0, Ready: 0, all: 0 };
  for (const state of states) {
    if (state === undefined) continue;
    counts[state]++;
    counts.all++;
  }
  return counts;
}

function summaryOfStates(states: readonly (Line['state'] | undefined)[]): string {
  const { Ready, Progressing, 'Not Ready': notReady, Hibernated, all } = countStates(states);
  const hibernated = Hibernated === 0 ? '' : `, ${Hibernated} hibernated`;
  return `${Ready} Ready, ${Progressing} progressing, ${notReady} not Ready${hibernated} of ${counted(all, 'Shoot')}`;
}

function dataOf(map: KubeObject | undefined): Record<string, unknown> {
  return fieldsOf(map?.data) ?? {};
}

/** What `flux-status` says about one Shoot. */
export interface Line {
  state: 'Ready' | 'Progressing' | 'Not Ready' | 'Hibernated';
  /** RFC 3339; absent for Ready and Hibernated, whose lines are short because there are many. */
  since?: string | undefined;
  /** Of Progressing: what was before, where that was not Ready. */
  after?: 'new' | 'Not Ready' | undefined;
  /** The Flux release that the Shoot has, or gets. Absent before the first plan, and in the lines of a full ConfigMap. */
  flux?: string | undefined;
  sentence?: string | undefined;
}

const FORM =
  /^(Ready|Progressing|Not Ready|Hibernated)(?: since ([0-9T:.Z+-]{1,40}))?(?: \((?:(v[\w.+-]{1,60})(?:, |(?=\))))?(new|after Not Ready)?\))?(?:: (.*))?$/s;

/** Returns the line as text of at most `longest` bytes, of which only the sentence is cut. */
export function lineText({ state, since, after, flux, sentence }: Line, longest: number): string {
  const time = since === undefined ? '' : ` since ${since}`;
  const notes = [flux, after === 'Not Ready' ? 'after Not Ready' : after].filter((note) => note !== undefined);
  const head = `${state}${time}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
  if (sentence === undefined) return head;
  const room = longest - head.length - 2;
  const text = cutToBytes(safeText(sentence, LONGEST_SENTENCE), room);
  return text === '' ? head : `${head}: ${text}`;
}

/** Conditions quote long messages; a page about many Shoots has room for the beginning. */
const LONGEST_SENTENCE = 400;

/** Returns the line that a text says; undefined when it is none of ours. */
export function readLine(text: unknown): Line | undefined {
  const found = typeof text === 'string' ? FORM.exec(text) : null;
  if (found === null) return undefined;
  const [, state, since, flux, after, sentence] = found;
  return { state: state as Line['state'], since, flux, after: after?.replace('after ', '') as Line['after'], sentence };
}

function cutToBytes(text: string, most: number): string {
  if (most < SHORTEST_SENTENCE) return '';
  if (Buffer.byteLength(text) <= most) return text;
  let cut = cutExactly(text, most - ELLIPSIS);
  while (Buffer.byteLength(cut) > most - ELLIPSIS) cut = cutExactly(cut, cut.length - 1);
  return `${cut.trimEnd()}…`;
}

/** Less says nothing. */
const SHORTEST_SENTENCE = 20;

/** The bytes of `…`. */
const ELLIPSIS = 3;
