import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { standIn } from '../../shared/flux/testing.ts';
import { root } from '../../test/integration/documents.ts';
import { files, fluxConfigOf, shootOf } from '../cli/testing.ts';

const [hook] = parse(await readFile(join(root, '.pre-commit-hooks.yaml'), 'utf8'));

/** Runs the hook as pre-commit does: in the repository of the user, with the arguments of its configuration. */
async function run(cwd: string, ...args: string[]): Promise<{ code: number; out: string }> {
  return new Promise((resolve) => {
    execFile(join(root, hook.entry), args, { cwd }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out: out + err }),
    );
  });
}

test('the hook checks a whole project, and fails with the sentence of validate', async () => {
  const options = ['--flux-distribution', standIn.folder, '--flux-config', 'flux-config.yaml', '--fleet', '.'];
  const shoot = shootOf({ extensions: [{ type: 'shoot-flux' }] }, { name: 'dev', namespace: 'garden-foo' });
  await using good = await files({ 'flux-config.yaml': fluxConfigOf({}), 'dev.yaml': shoot });
  expect(await run(good.dir, ...options)).toEqual({ code: 0, out: 'dev.yaml (dev): ok\n' });
  await using bad = await files({ 'flux-config.yaml': fluxConfigOf({ syncmode: 'Once' }), 'dev.yaml': shoot });
  expect(await run(bad.dir, ...options)).toEqual({ code: 1, out: expect.stringContaining('did you mean syncMode?') });
});

test.each([
  ['flux-config.yaml', true],
  ['garden/flux-config.yml', true],
  ['shoots/dev.yaml', true],
  ['my-flux-config.yaml', false],
  ['docs/shoots.md', false],
])('a change of %s starts the hook: %s', (path, isChecked) => {
  expect(new RegExp(hook.files).test(path)).toBe(isChecked);
});
