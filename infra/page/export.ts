import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../shared/kube/client.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { type FleetShoot, isBad } from '../fleet/fleet.ts';
import { style } from './assets.ts';
import { readHistory } from './history.ts';
import { filtersOf, noQuery, projectOf } from './query.ts';
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
  const bad = snapshot.shoots.filter(isBad).slice(0, MOST_SHOOTS);
  const ofShoots = await inParallel(bad, async (shoot) => {
    const history = await readHistory(garden, shoot.namespace, shoot.name);
    return [keyOf(shoot), () => shootPage(view, shoot, history)] as const;
  });
  const shootPages = new Map(ofShoots);
  // A page that is linked to is written, too; a Map also goes through what is added meanwhile.
  const files = new Map<string, () => Html>();
  const linked = (parts: readonly string[], page: number, render: () => Html) => {
    const file = fileName(parts, page);
    if (!files.has(file)) files.set(file, render);
    return encodeURIComponent(file);
  };
  const links: Links = {
    list(query) {
      const [filter = ['index'], ...more] = filtersOf(query);
      return more.length > 0 ? undefined : linked(filter, query.page, () => listPage(view, query));
    },
    shoot(shoot) {
      const render = shootPages.get(keyOf(shoot));
      return render && linked(['shoot', projectOf(shoot.namespace), shoot.name], 1, render);
    },
    counts: (facet, page) => linked(['by', facet], page, () => countsPage(view, facet, page)),
  };
  const view: View = { snapshot, links, now: snapshot.readAt, isLive: false };
  links.list(noQuery);
  for (const [file, render] of files) await writeFile(join(dir, file), String(await render()));
  await writeFile(join(dir, style.name), style.text);
  return files.size + 1;
}

const keyOf = ({ namespace, name }: Pick<FleetShoot, 'namespace' | 'name'>) => `${namespace}/${name}`;

/** Returns for example `project.foo.html` and `project.foo.page-2.html`. */
function fileName(parts: readonly string[], page: number): string {
  const name = [...parts, ...(page > 1 ? [`page-${page}`] : [])].join('.');
  return `${name.replaceAll(/[^\w.+-]/g, '_')}.html`;
}
