import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { failures } from '../../functions/readiness/explain/explain.ts';
import { documents, root, scripts } from './documents.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const status = read('docs/status.md');
const pages = ['', 'docs', 'events', 'functions', 'infra', 'shared', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: folder !== '', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);

/** The anchors that GitHub makes of a page's headings. */
function anchorsOf(page: string): string[] {
  const text = read(page).replaceAll(/^ *```.*?^ *```$/gms, '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase());
  return headings.map((heading) => heading.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-'));
}

function linksIn(page: string): { from: string; to: string }[] {
  const found = read(page).matchAll(/(?:\]\(|src="|href=")(?!https?:|mailto:)([^)"\s]+)[)"]/g);
  return [...found].map(([, to = '']) => ({ from: page, to }));
}

function leadsSomewhere({ from, to }: { from: string; to: string }): boolean {
  const [path = '', anchor] = to.split('#');
  const target = path === '' ? from : join(dirname(from), path);
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || anchorsOf(target).includes(anchor);
}

it('links of the documentation lead to files and headings', () => {
  const links = pages.flatMap(linksIn);
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter((link) => !leadsSomewhere(link))).toEqual([]);
});

it('rows of tables have the cells of their head', () => {
  const cellsOf = (row: string) => row.replaceAll('\\|', '').split('|').length;
  const tables = documents.flatMap(({ text }) => text.match(/(?:^\|.*\n)+/gm) ?? []);
  const rows = tables.flatMap((table) => {
    const [head = '', ...others] = table.trimEnd().split('\n');
    return others.filter((row) => cellsOf(row) !== cellsOf(head));
  });
  expect(rows).toEqual([]);
});

it('the documents name npm scripts that exist', () => {
  const named = documents.flatMap(({ text }) => [...text.matchAll(/npm run ([a-z][\w:-]*)/g)].map(([, name]) => name));
  expect(named.filter((name) => scripts[name ?? ''] === undefined)).toEqual([]);
});

it('explains every reason of a condition', () => {
  const reasons = Object.values(failures)
    .flat()
    .map(({ reason }) => reason);
  expect([...new Set(reasons)].filter((reason) => !status.includes(`\`${reason}\``))).toEqual([]);
});

it('the supported versions are those that the suites use', () => {
  const [, table = ''] = /^## Supported versions\n(.*?)\n## /ms.exec(read('docs/running.md')) ?? [];
  const flux = new Set(read('test/data/SHA256SUMS').match(/(?<=flux\/v)[\d.]+/g));
  const [kubernetes] = /(?<=k8s.io\/kubernetes v)[\d.]+/.exec(read('test/real/tools/kube-apiserver/go.mod')) ?? [];
  const { node } = JSON.parse(read('package.json')).devDependencies;
  const used = [...flux, kubernetes, node];
  expect(used.length).toBeGreaterThan(3);
  expect(used.filter((version) => !table.includes(version))).toEqual([]);
});
