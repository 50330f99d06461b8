import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vitepress';
import { adaptLinks, anchorOf, brokenAnchors } from './links.ts';

const root = new URL('../../', import.meta.url);
const read = (page: string) => readFileSync(new URL(page, root), 'utf8');
const titleOf = (page: string) => /^# (.+)$/m.exec(read(page))?.[1] ?? page;

/** Where the files of this commit are, on the machines of GitHub Actions. */
const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_SHA } = process.env;
const source = GITHUB_REPOSITORY ? `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/blob/${GITHUB_SHA}/` : undefined;

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

/** What the search of the theme says to screen readers: a button and options with links inside, and other words than it shows. */
const wrongRoles: [RegExp, string][] = [
  [/role="button"[^>]*?(?=aria-labelledby)/, 'role="dialog" aria-modal="true" '],
  [/:role="results\?\.length \? 'listbox' : undefined"/, ''],
  [/:aria-selected=".*"\s+role="option"/, ''],
  [/:aria-label="\[\.\.\.p\.titles.*"/, ''],
  [/<kbd (?=:aria-label)/g, '<kbd role="img" '],
];
const accessibleSearch: Plugin = {
  name: 'accessible-search',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/VPLocalSearchBox.vue')) return;
    return wrongRoles.reduce((text, [wrong, right]) => text.replace(wrong, right), code);
  },
};

export default defineConfig({
  title: 'shoot-flux',
  description: 'Flux in every Shoot of a Gardener project, from one ConfigMap',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: '..',
  outDir: '../dist/site',
  cacheDir: '../node_modules/.vitepress',
  rewrites: (page) => page.replace(/README\.md$/, 'index.md'),
  // Markdown means here what it means on GitHub.
  markdown: {
    attrs: { disable: true },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
    anchor: { slugify: anchorOf },
    config: (md) => adaptLinks(md, source),
  },
  async buildEnd({ outDir, site }) {
    const broken = await brokenAnchors(outDir, site.base);
    if (broken.length > 0) throw new Error(`No element has the anchor of these links:\n${broken.join('\n')}`);
  },
  vite: { plugins: [accessibleSearch] },
  themeConfig: {
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: {
        translations: { button: { buttonText: 'Search (Ctrl K)', buttonAriaLabel: 'Search (Ctrl K)' } },
        // What readers do comes before why the product does it.
        miniSearch: {
          searchOptions: {
            boost: { title: 1, text: 2, titles: 1 },
            boostDocument: (id: string) => (/decisions|CHANGELOG/.test(id) ? 0.3 : 1),
          },
        },
      },
    },
  },
});
