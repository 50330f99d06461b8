import { FLUX_STATUS } from '../../shared/config/project-config.ts';
import { ROLLOUT_TEXT } from '../../shared/gardener/rollout.ts';
import {
  type Counts,
  countStates,
  isOwn,
  type Line,
  linesOf,
  SUSPENDED_TEXT,
} from '../../shared/gardener/status-map.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import type { KubeClient, ListOptions } from '../../shared/kube/client.ts';
import { ForbiddenError } from '../../shared/kube/errors.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { textAt } from '../../shared/shapes.ts';
import { UnseenError } from '../cli/option.ts';

/** The states in the order in which people ask about them. */
export const states = ['Not Ready', 'Progressing', 'Hibernated', 'Ready'] as const satisfies Line['state'][];

/** Returns a state as it is written in options and addresses: `not-ready`. */
export const wordOf = (state: Line['state']): string => state.toLowerCase().replace(' ', '-');

/** Returns whether somebody has to look at a Shoot, or wait for it. */
export const isBad = ({ state }: Line): boolean => state === 'Not Ready' || state === 'Progressing';

export const countsOf = (shoots: readonly Line[]): Counts => countStates(shoots.map(({ state }) => state));

/** One Shoot as members of its project see it. */
export interface FleetShoot extends Line {
  namespace: string;
  name: string;
  /** Empty where the Shoot has none, or may not be read. */
  seed: string;
  /** Undefined where Shoots may not be read. */
  labels: Record<string, string> | undefined;
}

/** What the credentials show of one project or of all. */
export interface Fleet {
  /** Sorted: what is not Ready first, the oldest of each state before the others, then by name. */
  shoots: FleetShoot[];
  /** Namespace -> the sentence about its rollout, where a project has one. */
  rollouts: Record<string, string>;
  /** Namespace -> who has suspended the project, when and why. */
  suspensions: Record<string, string>;
  /** Sentences about what could not be seen. */
  unseen: string[];
}

const PAGE = 500;

/**
 * Reads the state of all Shoots: the ConfigMaps `flux-status`, and the metadata of Shoots for their seeds and labels.
 * @param namespace undefined: of all projects
 * @param labelSelector only Shoots with these labels
 * @throws UnseenError
 */
export async function readFleet(garden: KubeClient, namespace?: string, labelSelector?: string): Promise<Fleet> {
  const maps = await readStatusMaps(garden, namespace);
  const read = await readShoots(garden, namespace, labelSelector);
  return fleetIn(maps, read, namespace, labelSelector !== undefined);
}

/** Joins what was read. @throws UnseenError where a namespace has nothing to show */
export function fleetIn(
  maps: readonly KubeObject[],
  { shoots, unseen }: ShootsRead,
  namespace: string | undefined,
  isFiltered = false,
): Fleet {
  const fleet = fleetOf(maps, shoots, isFiltered);
  const isNothing = maps.length === 0 && fleet.shoots.length === 0 && !isFiltered;
  if (isNothing && namespace !== undefined)
    throw new UnseenError(
      `No Shoot ${within(namespace)} has the extension shoot-flux: enable it for a Shoot, or check the name of the project`,
    );
  const foreign = maps.find((map) => !isOwn(map));
  if (foreign === undefined) return { ...fleet, unseen };
  const name = `${foreign.metadata.namespace}/${FLUX_STATUS}`;
  return {
    ...fleet,
    unseen: [...unseen, `ConfigMap ${name} is not written by shoot-flux; delete or rename it.`],
  };
}

/** The garden's API server labels the Shoots that have an extension, also those that have it by default (ExtensionLabels). */
export const WITH_EXTENSION = `extensions.extensions.gardener.cloud/${EXTENSION_TYPE}=true`;

/**
 * Reads the metadata of Shoots that have the extension.
 * @throws UnseenError where none may be listed, and that leaves nothing to show
 */
export async function readShoots(
  garden: KubeClient,
  namespace: string | undefined,
  labelSelector?: string,
): Promise<ShootsRead> {
  const selector = [WITH_EXTENSION, labelSelector].filter((part) => part !== undefined).join(',');
  try {
    const options = { namespace, labelSelector: selector, metadataOnly: true };
    return { shoots: await listAll(garden, resources.shoots, options), unseen: [] };
  } catch (error) {
    if (!(error instanceof ForbiddenError) || labelSelector !== undefined)
      throw unseenOr(error, 'list Shoots', namespace);
    const sentence = `Seeds and labels are missing: these credentials may not list Shoots ${within(namespace)}.`;
    return { shoots: undefined, unseen: [sentence] };
  }
}

interface ShootsRead {
  /** Undefined: they may not be listed. */
  shoots: readonly KubeObject[] | undefined;
  /** Says so. */
  unseen: string[];
}

/**
 * Joins ConfigMaps `flux-status` with the Shoots that have the extension. One without a line is progressing: the first
 * line appears within a minute, if a shoot-flux serves its seed.
 * @param shoots their metadata; undefined: unknown
 * @param isFiltered true: a Shoot that is not among them is left out
 */
export function fleetOf(
  maps: readonly KubeObject[],
  shoots: readonly KubeObject[] | undefined,
  isFiltered = false,
): Omit<Fleet, 'unseen'> {
  const known = new Map(shoots?.map(({ metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata]));
  const rows: FleetShoot[] = maps.filter(isOwn).flatMap((map) => {
    const { namespace = '' } = map.metadata;
    return [...linesOf(map)].flatMap(([name, line]): FleetShoot[] => {
      const metadata = known.get(`${namespace}/${name}`);
      if (isFiltered && metadata === undefined) return [];
      return [{ ...line, namespace, name, seed: seedOf(metadata?.labels), labels: metadata?.labels }];
    });
  });
  for (const { namespace, name } of rows) known.delete(`${namespace}/${name}`);
  const silent = [...known.values()].map(
    ({ namespace = '', name, labels, creationTimestamp }): FleetShoot => ({
      ...{ state: 'Progressing', since: creationTimestamp, after: 'new', sentence: NO_LINE },
      ...{ namespace, name, seed: seedOf(labels), labels },
    }),
  );
  const all = [...rows, ...silent].sort(compare);
  return { shoots: all, rollouts: textsOf(maps, ROLLOUT_TEXT), suspensions: textsOf(maps, SUSPENDED_TEXT) };
}

/** Returns what a key says by the namespaces of the projects that have it. */
function textsOf(maps: readonly KubeObject[], key: string): Record<string, string> {
  const texts = maps.filter(isOwn).flatMap((map): [string, string][] => {
    const text = textAt(map, 'data', key);
    return text === undefined ? [] : [[map.metadata.namespace ?? '', text]];
  });
  return Object.fromEntries(texts);
}

const NO_LINE = 'No state has been reported yet; if this lasts, ask an operator whether shoot-flux serves the seed.';

/** Returns whether only the Shoot itself is known, and no line of `flux-status`. */
export const isSilent = ({ sentence }: Line): boolean => sentence === NO_LINE;

function compare(one: FleetShoot, other: FleetShoot): number {
  const byState = states.indexOf(one.state) - states.indexOf(other.state);
  if (byState !== 0) return byState;
  const [a, b] = [one, other].map(({ since = '', namespace, name }) => `${since}/${namespace}/${name}`) as [
    string,
    string,
  ];
  return a < b ? -1 : Number(a > b);
}

/** The API server of the garden labels each Shoot with its seed, and during a migration with both. */
const SEED_LABEL = 'name.seed.gardener.cloud/';

const seedOf = (labels: Record<string, string> = {}) =>
  Object.keys(labels)
    .filter((label) => label.startsWith(SEED_LABEL))
    .map((label) => label.slice(SEED_LABEL.length))
    .join(',');

/** Reads the ConfigMaps `flux-status`. @throws UnseenError where none may be read */
export async function readStatusMaps(garden: KubeClient, namespace: string | undefined): Promise<KubeObject[]> {
  try {
    if (namespace === undefined) {
      return await listAll(garden, resources.configMaps, { fieldSelector: `metadata.name=${FLUX_STATUS}` });
    }
    const map = await garden.find(resources.configMaps, { namespace, name: FLUX_STATUS });
    return map === undefined ? [] : [map];
  } catch (error) {
    throw unseenOr(error, `read ConfigMap ${FLUX_STATUS}`, namespace);
  }
}

/** Returns the error with its remedy, where it is that a right is missing. */
export function unseenOr(error: unknown, verb: string, namespace: string | undefined): unknown {
  return error instanceof ForbiddenError ? missingRight(verb, namespace) : error;
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

/** Lists page by page. */
export async function listAll(garden: KubeClient, resource: Resource, options: ListOptions): Promise<KubeObject[]> {
  const items: KubeObject[] = [];
  let token: string | undefined;
  do {
    const page = await garden.list(resource, { ...options, limit: PAGE, continue: token });
    items.push(...page.items);
    token = page.continue;
  } while (token !== undefined);
  return items;
}
