import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './documents.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const filesUnder = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));

/** The last column of the rows of all tables under a heading of the second level: what holds each. */
function rowsUnder(heading: string): string[] {
  const section = read('docs/gardener-contract.md')
    .split(/^## /m)
    .find((text) => text.startsWith(`${heading}\n`));
  const lines = section?.match(/^\| [0-9].*\|$/gm) ?? [];
  return lines.map((line) => line.slice(2, -2).split(' | ')[2] ?? '');
}

const rows = [...rowsUnder('Rules'), ...rowsUnder('Traps')];

/** The tests that the last column of a row names: `[name](../file): “title”; “title”<br>[…`. */
const named = (heldBy: string): [file: string, title: string][] =>
  heldBy.split('<br>').flatMap((part) => {
    const [, file = ''] = /^\[[^\]]+\]\(\.\.\/([^)]+)\): /.exec(part) ?? [];
    return [...part.matchAll(/“([^”]+)”/g)].map(([, title = '']): [string, string] => [file, title]);
  });

const QUOTED = `('(?:[^'\\\\\\n]|\\\\.)*'|"(?:[^"\\\\\\n]|\\\\.)*")`;

/** Every title of a test in a file, as written there, including tables; skipped tests do not count. */
function titlesIn(file: string): Set<string> {
  const source = read(file).replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  const found = (pattern: string) =>
    [...source.matchAll(new RegExp(pattern, 'g'))].map(([, quoted = '']) => quoted.slice(1, -1).replaceAll('\\', ''));
  const single = found(`\\b(?:it|test|describeKilled)\\(\\s*${QUOTED},`);
  const ofTables = found(`\\)\\(\\s*${QUOTED},\\s*(?:\\{[^}]*\\},\\s*)?(?:async )?\\(`);
  // The first column of a table is the title if the title says nothing else.
  const cases = ofTables.some((title) => title === '%s' || title === 'but not with %s')
    ? found(`\\[\\s*${QUOTED},`)
    : [];
  return new Set([...single, ...ofTables, ...cases]);
}

describe('the table of the contract', () => {
  it('names a test for each row, or the reason for none', () => {
    const unnamed = rows.filter((row) => named(row).length === 0);
    expect(unnamed.filter((row) => !/^(Not here yet|Nothing to hold): ./.test(row))).toEqual([]);
  });

  it.each([...new Set(rows.flatMap(named).map(([file]) => file))])('names only tests that %s has', (file) => {
    const titles = titlesIn(file);
    const missing = rows.flatMap(named).filter(([path, title]) => path === file && !titles.has(title));
    expect(missing).toEqual([]);
  });

  it('lists every scenario that is named after a trap or a rule', () => {
    const mine = filesUnder('test/scenarios').flatMap((file) => [...titlesIn(file)].map((title) => [file, title]));
    const after = mine.filter(([, title = '']) => /^(trap|rule) [0-9]/.test(title));
    const listed = rows.flatMap(named).map(([, title]) => title);
    expect(after.filter(([, title = '']) => !listed.includes(title))).toEqual([]);
  });
});

describe('error codes', () => {
  it('trap 21: no code that puts a Shoot into Failed is in the sources', () => {
    const product = ['functions', 'shared', 'events', 'infra'].flatMap(filesUnder);
    const codes = product
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) => read(file).match(/\bERR_[A-Z_]+/g) ?? []);
    // Codes of Node.js, which no status carries.
    const ofNode = [
      ...['ERR_BUFFER_TOO_LARGE', 'ERR_WORKER_OUT_OF_MEMORY', 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'],
      ...['ERR_INVALID_CHAR', 'ERR_OSSL_'],
    ];
    expect(new Set(codes.filter((code) => !ofNode.includes(code)))).toEqual(
      new Set(['ERR_RETRYABLE_CONFIGURATION_PROBLEM']),
    );
  });
});
