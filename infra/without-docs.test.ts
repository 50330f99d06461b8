import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keyDocs } from '../shared/config/schema.ts';
import '../shared/config/flux-config.ts';
import '../shared/config/provider-config.ts';
import { withoutDocTexts } from './without-docs.ts';

const folder = new URL('../shared/config', import.meta.url).pathname;

test('leaves out the texts of the documentation, and nothing else', () => {
  expect(
    withoutDocTexts(`key(text(), { description: "It's a name.", default: '\`a\`', example: 'b' }),
  { most: 1, unit: 'KiB', of: 'all keys', why: 'a "reason"' },
  { description: \`One of \${names}.\`, example: '{ of: c, why: d }' }
  switch (a) { default: return 'b'; }`),
  ).toBe(`key(text(), { description: '', default: '', example: 'b' }),
  { most: 1, unit: 'KiB', of: '', why: '' },
  { description: \`One of \${names}.\`, example: '{ of: c, why: d }' }
  switch (a) { default: return 'b'; }`);
});

test('leaves out most texts of the schemas', async () => {
  const files = (await readdir(folder, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const sources = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const kept = sources.map(withoutDocTexts).join('\n');
  const texts = [...keyDocs.values()].map(({ description }) => description);
  expect(texts.length).toBeGreaterThan(50);
  expect(texts.filter((text) => kept.includes(text)).length).toBeLessThan(texts.length / 10);
});
