import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { documents, example, exampleWith, followed, root } from './documents.ts';

const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => readFileSync(join(root, 'test', name), 'utf8'));
const pages = documents.filter(({ path }) => path.startsWith('docs/howto/'));
const manifests = pages.flatMap(({ path, fences }) =>
  fences.filter(({ language }) => language === 'yaml').map(({ text, section }) => ({ path, section, text })),
);

test('the how-tos have manifests', () => {
  expect(new Set(manifests.map(({ path }) => path)).size).toBeGreaterThan(4);
});

/** Tests take manifests by `example` or `exampleWith`; a page that `followPage` runs has its files written by it. */
test.each(manifests)('$path, $section: a test runs the manifest', ({ path, text }) => {
  if (followed[path] !== undefined) return;
  const ofPage = tests.filter((source) => source.includes(`'${path}'`));
  const { kind, ...rest } = parse(text);
  if (kind !== undefined) {
    expect(example(path, kind)).toBe(text);
    expect(ofPage.some((source) => new RegExp(`example\\([^)]+, '${kind}'\\)`).test(source))).toBe(true);
    return;
  }
  const keys = Object.keys(Array.isArray(rest) ? {} : rest).filter((key) =>
    ofPage.some((source) => source.includes(`'${key}'`)),
  );
  expect(keys.map((key) => exampleWith(path, key))).toContain(text);
});
