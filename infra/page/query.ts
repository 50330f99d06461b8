import type { Counts, Line } from '../../shared/gardener/status-map.ts';
import { countsOf, type FleetShoot, states, wordOf } from '../fleet/fleet.ts';

/** The list of all Shoots. An empty text filters nothing; `text` is part of a name or a sentence; the first page is 1. */
export const noQuery = { state: '' as Line['state'] | '', project: '', seed: '', flux: '', text: '', page: 1 };

/** What a list of Shoots is filtered by, and which page of it is meant. */
export type Query = typeof noQuery;

/** So many rows are on a page: about 100 KB. */
export const PAGE_ROWS = 200;

const LONGEST = 100;

/** Reads the query of an address; what cannot be meant filters nothing. */
export function readQuery(search: Record<string, string>): Query {
  const value = (name: string) => (search[name] ?? '').trim().slice(0, LONGEST);
  const page = Number(value('page'));
  return {
    state: states.find((state) => wordOf(state) === value('state')) ?? '',
    ...{ project: value('project'), seed: value('seed'), flux: value('flux'), text: value('text') },
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
}

/** Returns the filters of a query as addresses have them. */
export const filtersOf = ({ page: _, state, ...rest }: Query) =>
  Object.entries({ state: state && wordOf(state), ...rest }).filter(([, value]) => value !== '');

/** Returns the project of a namespace: Gardener begins the namespaces of all projects but one with `garden-`. */
export const projectOf = (namespace: string) => namespace.replace(/^garden-/, '');

/** A Shoot that is migrated has both seeds. */
export const seedsOf = ({ seed }: Pick<FleetShoot, 'seed'>): string[] => (seed === '' ? [] : seed.split(','));

/** Returns the Shoots that the query asks for, of all pages. */
export function selected(shoots: readonly FleetShoot[], query: Query): FleetShoot[] {
  const text = query.text.toLowerCase();
  return shoots.filter(
    (shoot) =>
      (query.state === '' || shoot.state === query.state) &&
      facets.every((facet) => query[facet] === '' || valuesOf[facet](shoot).includes(query[facet])) &&
      (text === '' || shoot.name.includes(text) || (shoot.sentence ?? '').toLowerCase().includes(text)),
  );
}

/** What Shoots are counted by. */
export const facets = ['project', 'seed', 'flux'] as const;

export type Facet = (typeof facets)[number];

const valuesOf: Record<Facet, (shoot: FleetShoot) => string[]> = {
  project: ({ namespace }) => [projectOf(namespace)],
  seed: seedsOf,
  flux: ({ flux }) => (flux === undefined ? [] : [flux]),
};

/** Returns the counts of each project, seed or Flux release: those with the most Shoots that are not Ready first. */
export function countsBy(facet: Facet, shoots: readonly FleetShoot[]): [string, Counts][] {
  const pairs = shoots.flatMap((shoot) => valuesOf[facet](shoot).map((value) => ({ value, shoot })));
  return [...Map.groupBy(pairs, ({ value }) => value)]
    .map(([value, group]): [string, Counts] => [value, countsOf(group.map(({ shoot }) => shoot))])
    .sort(([a, one], [b, other]) => other['Not Ready'] - one['Not Ready'] || other.all - one.all || (a < b ? -1 : 1));
}
