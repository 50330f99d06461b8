import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { ABORT } from '../config/project-config.ts';
import type { Landscape } from '../config/types.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { Settings } from '../runtime/context.ts';
import { fieldsOf, parsedJson } from '../shapes.ts';
import { canonicalJson } from './managed-resource.ts';
import { LANDSCAPE_STATE, LANDSCAPE_TEXT, type RolloutState, rolloutText, stateText } from './rollout.ts';

/** The key of the operators' `flux-status` with what the operators have given the Shoots. */
export const LANDSCAPE = 'Landscape';

/** What the operators decide for all Shoots. */
export interface Documents extends Pick<Landscape, 'defaults' | 'policy' | 'addons'> {
  /** The Flux releases of the distribution. */
  releases: readonly string[];
  /** What renders the objects: the version of shoot-flux, and those of its options that change them. */
  program: string;
}

/** What the operators decide, under the name that the record of a Shoot gets. */
export interface Given {
  /** 12 hex digits. */
  revision: string;
  documents: Documents;
}

/** Returns the name of what the operators decide. */
export function revisionOfDocuments(documents: Documents): string {
  return hash('sha256', canonicalJson(documents)).slice(0, 12);
}

const revision = z.string().check(z.regex(/^[0-9a-f]{12}$/));

const written = z.object({
  version: z.literal(1),
  /** The newest first. Shoots get the first one that is not aborted. */
  history: z.array(z.object({ revision, documents: z.custom<Documents>((value) => fieldsOf(value) !== undefined) })),
  /** Seed -> what the shoot-flux that serves it was given, and when the process that said so began, in seconds since 1970. */
  seeds: z.record(z.string(), z.object({ revision, since: z.number() })),
});

/** What the operators have given the Shoots, and are giving them. */
export type LandscapeState = z.infer<typeof written>;

/** So many revisions are kept: a Shoot that waits needs the one that it has. */
const MOST_KEPT = 8;

/** Longer texts are not ours; in bytes, of which an API server stores 1 MiB. */
const LONGEST = 512 * 1024;

/** Reads the state; undefined: there is none of ours. */
export function landscapeIn(map: KubeObject | undefined): LandscapeState | undefined {
  const text = fieldsOf(map?.data)?.[LANDSCAPE];
  return typeof text === 'string' && text.length <= LONGEST ? written.safeParse(parsedJson(text)).data : undefined;
}

/** Returns the state as text, without the oldest revisions where they have no room. */
export function landscapeText({ history, ...rest }: LandscapeState): string {
  const text = JSON.stringify({ ...rest, history });
  return Buffer.byteLength(text) <= LONGEST || history.length <= 1
    ? text
    : landscapeText({ ...rest, history: history.slice(0, -1) });
}

/** Returns what identifies what renders the objects, beside the other documents. */
export function programOf({ version, shootHealth, gardenIdentity = '' }: Settings): string {
  return [version, ...(shootHealth ? ['shoot-health'] : []), gardenIdentity].join(' ').trim();
}

/** Returns the revision that Shoots should get. */
export function targetOf({ history }: LandscapeState, annotations: Readonly<Record<string, string>> = {}): string {
  const wanted = history.find(({ revision }) => revision !== annotations[ABORT]) ?? history[0];
  return wanted?.revision ?? '';
}

/** Returns the documents of a revision; undefined: they are not kept. */
export function documentsOf({ history }: LandscapeState, revision: string | undefined): Documents | undefined {
  return history.find((entry) => entry.revision === revision)?.documents;
}

/** Returns whether a shoot-flux renders what operators have given: it is the version, and has the Flux releases. */
export function canGive(target: Documents, { program, releases }: Pick<Documents, 'program' | 'releases'>): boolean {
  return target.program === program && target.releases.every((one) => releases.includes(one));
}

/** Returns the seeds that cannot give their Shoots what all should get. One whose documents are not kept is forgotten. */
function seedsBehind(state: LandscapeState, target: string): string[] {
  const wanted = documentsOf(state, target);
  return Object.entries(state.seeds).flatMap(([seed, { revision }]) => {
    const own = documentsOf(state, revision);
    return wanted === undefined || own === undefined || canGive(wanted, own) ? [] : [seed];
  });
}

/** Returns how far the rollout has come as keys of `flux-status`. @param given what it says about the seeds, or will */
export function landscapeData(
  rollout: RolloutState,
  map: KubeObject,
  given = landscapeIn(map),
): Record<typeof LANDSCAPE_TEXT | typeof LANDSCAPE_STATE, string> {
  const isTarget = given !== undefined && targetOf(given, map.metadata.annotations) === rollout.revision;
  const behind = isTarget ? seedsBehind(given, rollout.revision) : [];
  const text = rolloutText(rollout, 0, { continuedBy: 'ConfigMap garden/flux-status', behind });
  return { [LANDSCAPE_TEXT]: text, [LANDSCAPE_STATE]: stateText(rollout) };
}

/** The shoot-flux of a seed, and what it was given. */
export interface Announcement {
  seed: string;
  documents: Documents;
  /** When its process began, in seconds since 1970. */
  startedAt: number;
}

/**
 * Returns the state with what a shoot-flux was given; the same one where that is known. What is given to a seed anew is
 * what all Shoots should get, also something former, unless that is newer than what the seed had: it only follows the others.
 * What was aborted comes last then: another abortion, or the end of this one, must not bring it back.
 */
export function announced(
  live: LandscapeState | undefined,
  { seed, documents, startedAt }: Announcement,
  annotations: Readonly<Record<string, string>> = {},
): LandscapeState {
  const revision = revisionOfDocuments(documents);
  const state: LandscapeState = live ?? { version: 1, history: [{ revision, documents }], seeds: {} };
  const before = state.seeds[seed];
  // A process that is being replaced may still run beside its successor.
  if (before?.revision === revision || (before !== undefined && startedAt < before.since)) return state;
  const seeds = { ...state.seeds, [seed]: { revision, since: startedAt } };
  const placeOf = (name: string | undefined) => state.history.findIndex((entry) => entry.revision === name);
  const [next, had] = [placeOf(revision), placeOf(before?.revision)];
  if (next >= 0 && (had < 0 || next < had)) return { ...state, seeds };
  const others = state.history.filter((entry) => entry.revision !== revision);
  const isAborted = (entry: Given) => entry.revision === annotations[ABORT];
  const history = [{ revision, documents }, ...others.filter((one) => !isAborted(one)), ...others.filter(isAborted)];
  return { ...state, seeds, history: history.slice(0, MOST_KEPT) };
}
