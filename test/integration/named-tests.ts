import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './documents.ts';

/** Returns the text of a file of the repository. */
export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Returns the tests that the last column of a row names: `[name](../file): “title”; “title”<br>[…`. */
export function namedTests(heldBy: string): [file: string, title: string][] {
  return heldBy.split('<br>').flatMap((part) => {
    const [, file = ''] = /^\[[^\]]+\]\(\.\.\/([^)]+)\): /.exec(part) ?? [];
    return [...part.matchAll(/“([^”]+)”/g)].map(([, title = '']): [string, string] => [file, title]);
  });
}

const QUOTED = `('(?:[^'\\\\\\n]|\\\\.)*'|"(?:[^"\\\\\\n]|\\\\.)*")`;

/** Returns every title of a test in a file, as written there, including tables; skipped tests do not count. */
export function titlesIn(file: string): Set<string> {
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

/** Returns all TypeScript files of a folder. */
export function filesUnder(folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
}
