import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root, scripts } from '../../integration/documents.ts';
import { buildTools } from '../tools/build.ts';
import { runProgram } from '../tools/cache.ts';

const folder = join(root, '.github/workflows');
const names = await readdir(folder);

it('actionlint accepts every workflow', async () => {
  expect(names.toSorted()).toEqual(['ci.yaml', 'release.yaml']);
  const { actionlint } = await buildTools(['actionlint']);
  const paths = names.map((name) => join(folder, name));
  expect(await runProgram(actionlint, ['-no-color', '-shellcheck=', '-pyflakes=', ...paths], root)).toBe('');
});

it.each(names)('%s calls scripts of this repository', async (name) => {
  const text = await readFile(join(folder, name), 'utf8');
  const called = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, script = '']) => script);
  expect(called.length).toBeGreaterThan(0);
  for (const script of called) expect(scripts).toHaveProperty([script]);
});
