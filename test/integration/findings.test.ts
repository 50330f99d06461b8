import { describe, expect, it } from 'vitest';
import { namedTests, read, titlesIn } from './named-tests.ts';

const pages = ['docs/scale.md', 'docs/security.md'];

/** The rows of all tables of a page whose last column is `held by`. */
function rowsOf(page: string): { finding: string; heldBy: string }[] {
  const tables = read(page).match(/^\| [^\n]*\| held by \|\n\|[-|]+\|\n(\|.*\|\n)*/gm) ?? [];
  return tables.flatMap((table) =>
    (table.trimEnd().split('\n').slice(2) ?? []).map((line) => {
      const cells = line.slice(2, -2).split(' | ');
      return { finding: cells[0] ?? '', heldBy: cells.at(-1) ?? '' };
    }),
  );
}

describe.each(pages)('the findings of %s', (page) => {
  const named = rowsOf(page).flatMap(({ heldBy }) => namedTests(heldBy));

  it('each name a test', () => {
    const unheld = rowsOf(page).filter(({ heldBy }) => namedTests(heldBy).length === 0);
    expect(unheld).toEqual([]);
  });

  it('name only tests that exist', () => {
    const titles = new Map([...new Set(named.map(([file]) => file))].map((file) => [file, titlesIn(file)]));
    expect(named.filter(([file, title]) => titles.get(file)?.has(title) !== true)).toEqual([]);
  });
});
