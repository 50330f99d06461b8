import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { root, scripts } from '../../integration/documents.ts';
import { buildTools } from '../tools/build.ts';

const folder = join(root, '.github/workflows');
const names = await readdir(folder);

/** Returns what actionlint reports; nothing where a workflow is right. */
async function lint(...paths: string[]): Promise<string> {
  const { actionlint } = await buildTools(['actionlint']);
  const args = ['-no-color', '-shellcheck=', '-pyflakes=', ...paths];
  return promisify(execFile)(actionlint, args, { cwd: root }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  );
}

it('actionlint accepts every workflow', async () => {
  expect(names.toSorted()).toEqual(['ci.yaml', 'release.yaml']);
  expect(await lint(...names.map((name) => join(folder, name)))).toBe('');
});

it.each(names)('%s calls scripts of this repository', async (name) => {
  const text = await readFile(join(folder, name), 'utf8');
  const called = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, script = '']) => script);
  expect(called.length).toBeGreaterThan(0);
  for (const script of called) expect(scripts).toHaveProperty([script]);
});
