import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../shared/kube/client.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { type FleetShoot, isBad, states, wordOf } from '../fleet/fleet.ts';
import { style } from './assets.ts';
import { readHistory } from './history.ts';
import { countsBy, facets, noQuery, PAGE_ROWS, projectOf, type Query, selected } from './query.ts';
import { countsPage, type Html, type Links, listPage, shootPage, type View } from './render.ts';
import type { Snapshot } from './summary.ts';

/** So many Shoots have a page of their own: those that are progressing or not Ready, the oldest first. */
const MOST_SHOOTS = 1000;

/**
 * Writes the page as files without a script: lists with one filter, and the Shoots that are progressing or not Ready.
 * @returns the number of files
 */
export async function exportPage(dir: string, garden: Pick<KubeClient, 'list'>, snapshot: Snapshot): Promise<number> {
  await mkdir(dir, { recursive: true });
  let count = 0;
  const write = async (name: string, content: Html | string) => {
    await writeFile(join(dir, name), String(await content));
    count++;
  };
  const { shoots } = snapshot;
  const shown = shoots.filter(isBad).slice(0, MOST_SHOOTS);
  const isShown = new Set(shown.map(shootFile));
  const links: Links = {
    list: (query) => linkTo(listFile(query)),
    shoot: (shoot) => linkTo(isShown.has(shootFile(shoot)) ? shootFile(shoot) : undefined),
    counts: (facet, page) => fileName(['by', facet], page),
    style: style.name,
    script: undefined,
  };
  const view: View = { snapshot, links, now: snapshot.readAt };
  const filters = facets.flatMap((facet) => countsBy(facet, shoots).map(([value]) => ({ [facet]: value })));
  for (const filter of [{}, ...states.map((state) => ({ state })), ...filters]) {
    const query: Query = { ...noQuery, ...filter };
    const rows = selected(shoots, query).length;
    for (let page = 1; page === 1 || (page - 1) * PAGE_ROWS < rows; page++) {
      await write(listFile({ ...query, page }) ?? '', listPage(view, { ...query, page }));
    }
  }
  for (const facet of facets) {
    const rows = countsBy(facet, shoots).length;
    for (let page = 1; page === 1 || (page - 1) * PAGE_ROWS < rows; page++) {
      await write(links.counts(facet, page), countsPage(view, facet, page));
    }
  }
  const histories = await inParallel(shown, ({ namespace, name }) => readHistory(garden, namespace, name));
  for (const [index, history] of histories.entries()) {
    const shoot = shown[index];
    if (shoot !== undefined) await write(shootFile(shoot), shootPage(view, shoot, history));
  }
  await write(style.name, style.text);
  return count;
}

const linkTo = (file: string | undefined) => (file === undefined ? undefined : encodeURIComponent(file));

const shootFile = ({ namespace, name }: Pick<FleetShoot, 'namespace' | 'name'>) =>
  fileName(['shoot', projectOf(namespace), name]);

/** Returns the file of a list; undefined where it has more than one filter. */
function listFile({ page, state, ...rest }: Query): string | undefined {
  const filters = Object.entries({ state: state && wordOf(state), ...rest }).filter(([, value]) => value !== '');
  return filters.length > 1 ? undefined : fileName(filters[0] ?? ['index'], page);
}

/** Returns for example `project.foo.html` and `project.foo.page-2.html`. */
function fileName(parts: string[], page = 1): string {
  const name = [...parts, ...(page > 1 ? [`page-${page}`] : [])].join('.');
  return `${name.replaceAll(/[^\w.+-]/g, '_')}.html`;
}
