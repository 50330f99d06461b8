import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const pages = ['', 'docs', 'events', 'functions', 'infra', 'shared', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: folder !== '', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);

/** The anchors that GitHub makes of a page's headings. */
function anchorsOf(page: string): Set<string> {
  const text = read(page).replaceAll(/^ *```.*?^ *```$/gms, '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-'),
    ),
  );
}

interface Link {
  from: string;
  to: string;
}

function linksIn(page: string): Link[] {
  const found = read(page).matchAll(/(?:\]\(|src="|href=")(?!https?:|mailto:)([^)"\s]+)[)"]/g);
  return [...found].map(([, to = '']) => ({ from: page, to }));
}

function leadsSomewhere({ from, to }: Link): boolean {
  const [path = '', anchor] = to.split('#');
  const target = path === '' ? from : join(dirname(from), path);
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || anchorsOf(target).has(anchor);
}

it('links of the documentation lead to files and headings', () => {
  const links = pages.flatMap(linksIn);
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter((link) => !leadsSomewhere(link))).toEqual([]);
});
