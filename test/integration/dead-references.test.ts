import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const rooms = ['events', 'functions', 'shared', 'infra', 'test'];

function filesUnder(folder: string, ending: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...[...rooms, 'docs'].flatMap((folder) => filesUnder(folder, '.md')),
];
const sources = rooms.flatMap((folder) => filesUnder(folder, '.ts'));

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

interface Reference {
  from: string;
  to: string;
}

function linksIn(page: string): Reference[] {
  const found = read(page).matchAll(/(?:\]\(|src="|href=")(?!https?:|mailto:)([^)"\s]+)[)"]/g);
  return [...found].map(([, to = '']) => ({ from: page, to }));
}

function leadsSomewhere({ from, to }: Reference): boolean {
  const [path = '', anchor] = to.split('#');
  const target = path === '' ? from : join(dirname(from), path);
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || anchorsOf(target).has(anchor);
}

describe('the documentation', () => {
  it('has links that lead to files and headings', () => {
    const links = pages.flatMap(linksIn);
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter((link) => !leadsSomewhere(link))).toEqual([]);
  });

  it('names code that exists: [file](path): `symbol`', () => {
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)#]+\.ts)\): ((?:`[^`]+`(?:, | and )?)+)/g)].flatMap(
        ([, to = '', symbols = '']) =>
          [...symbols.matchAll(/`([^`]+)`/g)].map(([, symbol = '']) => ({
            page,
            file: join(dirname(page), to),
            symbol,
          })),
      ),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(({ file, symbol }) => !existsSync(join(root, file)) || !read(file).includes(symbol))).toEqual(
      [],
    );
  });

  it('names paths of this repository that exist', () => {
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/`((?:events|functions|shared|infra|test|docs)\/[\w./-]+)`/g)].map(([, to = '']) => ({
        from: page,
        to,
      })),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(({ to }) => !existsSync(join(root, to)))).toEqual([]);
  });
});

describe('docs/running.md', () => {
  const page = read('docs/running.md');
  const shipped = sources.filter((file) => !file.startsWith('test/') && !file.endsWith('.test.ts')).map(read);

  /** Quotations in the first column of the table with this heading. */
  function firstColumn(heading: string): string[] {
    const [, table = ''] = page.split(`\n| \`${heading}\` |`);
    const rows = table.split('\n\n')[0]?.split('\n').slice(2) ?? [];
    return rows.flatMap((row) =>
      [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, quoted = '']) => quoted),
    );
  }

  it('names log messages that the code logs', () => {
    const inText = [...page.matchAll(/(?:log|line|log line|says|reports) `([a-z][a-z ]+)`/g)].map(
      ([, name = '']) => name,
    );
    const named = [...firstColumn('message'), ...inText].filter((name) => name !== 'ok webhooks');
    expect(named.length).toBeGreaterThan(3);
    const logged = new Set(
      shipped.flatMap((text) =>
        [...text.matchAll(/log\s*\.(?:debug|info|warn|error)\(\s*'([^']+)'/g)].map(([, name]) => name),
      ),
    );
    expect(named.filter((name) => !logged.has(name))).toEqual([]);
  });

  it('quotes errors as the code words them', () => {
    const parts = firstColumn('lastError').flatMap((quoted) => quoted.split('…').map((part) => part.trim()));
    const quoted = parts.filter((part) => part.length > 3);
    expect(quoted.length).toBeGreaterThan(20);
    expect(quoted.filter((part) => !shipped.some((text) => text.includes(part)))).toEqual([]);
  });
});

describe('the code', () => {
  it('refers to pages that exist', () => {
    const named = sources.flatMap((from) =>
      [...read(from).matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([to]) => ({ from, to })),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(({ to }) => !existsSync(join(root, to)))).toEqual([]);
  });

  it('refers to sections of pages that exist', () => {
    const named = sources.flatMap((from) =>
      [...read(from).matchAll(/\b(docs\/[\w/-]+\.md), ([A-Z][\w ]*?)(?=[).:;,])/g)].map(
        ([, page = '', section = '']) => ({
          from,
          page,
          section,
        }),
      ),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(({ page, section }) => !read(page).includes(`\n## ${section}\n`))).toEqual([]);
  });

  it('refers to decisions that exist', () => {
    const records = readdirSync(join(root, 'docs/decisions')).map((name) => Number(name.slice(0, 4)));
    const named = [...sources, ...pages].flatMap((from) =>
      [...read(from).matchAll(/\bdecisions? (\d+)\b/gi)].map(([, number]) => ({ from, number: Number(number) })),
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter(({ number }) => !records.includes(number))).toEqual([]);
  });
});
