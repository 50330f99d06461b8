import { FLUX_STATUS, OPERATORS_NAMESPACE } from '../../shared/config/project-config.ts';
import { LANDSCAPE_TEXT, ROLLOUT_TEXT } from '../../shared/gardener/rollout.ts';
import {
  type Counts,
  countStates,
  findStatusMap,
  hasTooManyKeys,
  isOwn,
  type Line,
  linesOf,
  MOST_KEYS,
  SUSPENDED_TEXT,
} from '../../shared/gardener/status-map.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import type { KubeClient, ListOptions } from '../../shared/kube/client.ts';
import { ForbiddenError, unless } from '../../shared/kube/errors.ts';
import { objectsOf } from '../../shared/kube/pages.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { textAt } from '../../shared/shapes.ts';
import { UnseenError } from '../cli/option.ts';

/** The states in the order in which people ask about them. */
export const states = ['Not Ready', 'Progressing', 'Hibernated', 'Ready'] as const satisfies Line['state'][];

/** Returns a state as it is written in options and addresses: `not-ready`. */
export const wordOf = (state: Line['state']): string => state.toLowerCase().replace(' ', '-');

/** Returns whether somebody has to look at a Shoot, or wait for it: also for one that has no line. */
export const isBad = (line: Line | undefined): boolean => line?.state !== 'Ready' && line?.state !== 'Hibernated';

export const countsOf = (shoots: readonly Line[]): Counts => countStates(shoots.map(({ state }) => state));

/** One Shoot as members of its project see it. */
export interface FleetShoot extends Line {
  namespace: string;
  name: string;
  /** Empty where the Shoot has none, or may not be read. */
  seed: string;
}

/** What the credentials show of one project or of all. */
export interface Fleet {
  /** Sorted: what is not Ready first, the oldest of each state before the others, then by name. */
  shoots: FleetShoot[];
  /** Namespace -> the sentence about its rollout, where a project has one. */
  rollouts: Record<string, string>;
  /** Namespace -> who has suspended the project, when and why. */
  suspensions: Record<string, string>;
  /** The sentence about what the operators change in all projects, where it can be seen. */
  landscape?: string | undefined;
  /** Sentences about what could not be seen. */
  unseen: string[];
}

/**
 * Reads the state of all Shoots: the ConfigMaps `flux-status`, and the metadata of Shoots for their seeds and labels.
 * @param namespace undefined: of all projects
 * @param labelSelector only Shoots with these labels; if it is given, even empty, Shoots must be visible
 * @throws UnseenError
 */
export async function readFleet(garden: KubeClient, namespace?: string, labelSelector?: string): Promise<Fleet> {
  const maps = await readStatusMaps(garden, namespace);
  return fleetIn(maps, await readShoots(garden, namespace, labelSelector), namespace);
}

/**
 * Joins ConfigMaps `flux-status` with the Shoots that have the extension. One without a line is progressing: the first
 * line appears within a minute, if a shoot-flux serves its seed.
 * @throws UnseenError where a namespace has nothing to show
 */
export function fleetIn(
  maps: readonly KubeObject[],
  { shoots, isFiltered }: Awaited<ReturnType<typeof readShoots>>,
  namespace: string | undefined,
): Fleet {
  const silent = new Map(shoots?.map(({ metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata]));
  const own = maps.filter(isOwn);
  const all: FleetShoot[] = [];
  for (const map of own) {
    const { namespace = '' } = map.metadata;
    for (const [name, line] of linesOf(map)) {
      const metadata = silent.get(`${namespace}/${name}`);
      if (isFiltered && metadata === undefined) continue;
      silent.delete(`${namespace}/${name}`);
      const sentence = line.sentence && printable(line.sentence);
      all.push({ ...line, sentence, namespace, name, seed: seedOf(metadata?.labels) });
    }
  }
  for (const { namespace = '', name, labels, creationTimestamp: since } of silent.values()) {
    const line: Line = { state: 'Progressing', since, after: 'new', sentence: NO_LINE };
    all.push({ ...line, namespace, name, seed: seedOf(labels) });
  }
  const isEmpty = namespace !== undefined && maps.length === 0 && all.length === 0;
  if (isEmpty && shoots === undefined) throw missingRight('list Shoots', namespace);
  if (isEmpty && !isFiltered)
    throw new UnseenError(
      `No Shoot ${within(namespace)} has the extension shoot-flux: enable it for a Shoot, or check the name of the project`,
    );
  const foreign = maps.find((map) => !isOwn(map));
  const unseen = [
    shoots === undefined && `Seeds and labels are missing: these credentials may not list Shoots ${within(namespace)}.`,
    foreign && foreignMap(foreign),
  ].filter((sentence) => typeof sentence === 'string');
  return {
    shoots: all.sort((one, other) => (turnOf(one) < turnOf(other) ? -1 : 1)),
    ...{ rollouts: textsOf(own, ROLLOUT_TEXT), suspensions: textsOf(own, SUSPENDED_TEXT) },
    landscape: textsOf(own, LANDSCAPE_TEXT)[OPERATORS_NAMESPACE],
    unseen,
  };
}

/** Says why a ConfigMap `flux-status` is none of ours. */
export function foreignMap(map: KubeObject): string {
  const why = hasTooManyKeys(map) ? `has more than ${MOST_KEYS} keys` : 'is not written by shoot-flux';
  return `ConfigMap ${map.metadata.namespace}/${FLUX_STATUS} ${why}; delete or rename it.`;
}

/** The garden's API server labels the Shoots that have an extension, also those that have it by default (ExtensionLabels). */
export const WITH_EXTENSION = `extensions.extensions.gardener.cloud/${EXTENSION_TYPE}=true`;

/**
 * Reads the metadata of Shoots that have the extension.
 * @throws UnseenError where none may be listed, and that leaves nothing to show
 */
export async function readShoots(garden: KubeClient, namespace: string | undefined, labelSelector?: string) {
  const isFiltered = labelSelector !== undefined;
  const selector = labelSelector ? `${WITH_EXTENSION},${labelSelector}` : WITH_EXTENSION;
  const listed = listAll(garden, resources.shoots, { namespace, labelSelector: selector, metadataOnly: true });
  const answer = isFiltered ? orUnseen(listed, 'list Shoots', namespace) : unless(listed, ForbiddenError);
  return {
    /** Undefined: they may not be listed. */
    shoots: await answer,
    /** True: a Shoot that is not among them is left out. */
    isFiltered,
  };
}

/** Returns what a key says by the namespaces of the projects that have it. */
function textsOf(maps: readonly KubeObject[], key: string): Record<string, string> {
  const texts = maps.flatMap(({ metadata, ...map }) => {
    const text = textAt(map, 'data', key);
    return text === undefined ? [] : [[metadata.namespace ?? '', printable(text)]];
  });
  return Object.fromEntries(texts);
}

/** Longer than what we write. */
const LONGEST_TEXT = 1000;

/** Returns a text of `flux-status` without what a terminal would obey: members of the project may write anything there. */
function printable(text: string): string {
  return text.length > LONGEST_TEXT || /[\p{Cc}\p{Cf}]/u.test(text) ? safeText(text, LONGEST_TEXT) : text;
}

const NO_LINE = 'No state has been reported yet; if this lasts, ask an operator whether shoot-flux serves the seed.';

/** Returns whether only the Shoot itself is known, and no line of `flux-status`. */
export const isSilent = ({ sentence }: Line): boolean => sentence === NO_LINE;

const turnOf = ({ state, since = '', namespace, name }: FleetShoot) =>
  `${states.indexOf(state)}/${since}/${namespace}/${name}`;

/** The API server of the garden labels each Shoot with its seed, and during a migration with both. */
const SEED_LABEL = 'name.seed.gardener.cloud/';

const seedOf = (labels: Record<string, string> = {}) =>
  Object.keys(labels)
    .filter((label) => label.startsWith(SEED_LABEL))
    .map((label) => label.slice(SEED_LABEL.length))
    .join(',');

/** Reads the ConfigMaps `flux-status`. @throws UnseenError where none may be read */
export function readStatusMaps(garden: KubeClient, namespace: string | undefined): Promise<KubeObject[]> {
  const maps =
    namespace === undefined
      ? listAll(garden, resources.configMaps, { fieldSelector: `metadata.name=${FLUX_STATUS}` })
      : findStatusMap(garden, namespace).then((map) => (map === undefined ? [] : [map]));
  return orUnseen(maps, `read ConfigMap ${FLUX_STATUS}`, namespace);
}

/** Returns the answer, also that a right is missing. */
export async function orForbidden<T>(answer: Promise<T>): Promise<T | 'forbidden'> {
  return answer.catch((error: unknown) => {
    if (error instanceof ForbiddenError) return 'forbidden';
    throw error;
  });
}

/** Returns the answer. @throws UnseenError with the remedy, where a right is missing */
export async function orUnseen<T>(answer: Promise<T>, verb: string, namespace: string | undefined): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof ForbiddenError ? missingRight(verb, namespace) : error;
  }
}

/** Returns the error that a right is missing, with its remedy. */
export function missingRight(verb: string, namespace: string | undefined): UnseenError {
  const remedy =
    namespace === undefined
      ? 'name one with --project, or use credentials of an operator'
      : 'ask an owner of the project to make you a member, or use other credentials';
  return new UnseenError(`These credentials may not ${verb} ${within(namespace)}; ${remedy}`);
}

const within = (namespace: string | undefined) =>
  namespace === undefined ? 'in all projects' : `in namespace ${namespace}`;

async function listAll(garden: KubeClient, kind: Resource, options: ListOptions): Promise<KubeObject[]> {
  const items: KubeObject[] = [];
  for await (const item of objectsOf(garden, kind, options)) items.push(item);
  return items;
}
