import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { adaptLinks, anchorOf, brokenAnchors } from './links.ts';

const root = new URL('../../', import.meta.url);
const read = (page: string) => readFileSync(new URL(page, root), 'utf8');
const titleOf = (page: string) => /^# (.+)$/m.exec(read(page))?.[1] ?? page;

/** Where the files of this commit are, on the machines of GitHub Actions. */
const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_SHA } = process.env;
const source = GITHUB_REPOSITORY && `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/blob/${GITHUB_SHA}/`;

/** The table of pages in README.md, as a sidebar: one group for each reader, each page with its own title. */
function sidebar() {
  const groups: { text: string; items: { text: string; link: string }[] }[] = [];
  const [, table = ''] = read('README.md').split('| for | page |');
  for (const [, reader = '', cell = ''] of table.matchAll(/^\| ([a-z]*) *\| (.+) \|$/gm)) {
    if (reader !== '') groups.push({ text: `For ${reader}`, items: [] });
    const items = groups.at(-1)?.items ?? [];
    for (const [, page = ''] of cell.matchAll(/\]\(([^)#]+\.md)\)/g))
      items.push({ text: titleOf(page), link: `/${page.replace('README.md', '')}` });
  }
  return groups;
}

export default defineConfig({
  title: 'shoot-flux',
  description: 'Flux in every Shoot of a Gardener project, from one ConfigMap',
  srcDir: '..',
  outDir: '../dist/site',
  cacheDir: '../node_modules/.vitepress',
  rewrites: (page) => page.replace(/README\.md$/, 'index.md'),
  // Markdown means here what it means on GitHub.
  markdown: {
    attrs: { disable: true },
    anchor: { slugify: anchorOf },
    config: (md) => adaptLinks(md, source),
  },
  async buildEnd({ outDir, site }) {
    const broken = await brokenAnchors(outDir, site.base);
    if (broken.length > 0) throw new Error(`No element has the anchor of these links:\n${broken.join('\n')}`);
  },
  themeConfig: {
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    search: { provider: 'local' },
  },
});
