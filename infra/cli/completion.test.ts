import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { files, shootFlux } from './testing.ts';

const run = promisify(execFile);

it.each([
  [[''], /^status\tShow the state.*\n(.*\n)*:4\n$/],
  [['st'], /^status\t.*\n:4\n$/],
  [['status', '--st'], /^--state\t.*\n:4\n$/],
  [['status', '-o', 'w'], /^wide\t\n:4\n$/],
  [['status', '--kubeconfig', ''], /^:0\n$/],
  [['completion', ''], /^bash\t\nzsh\t\nfish\t\n:4\n$/],
  [['nothing', ''], /^:4\n$/],
])('what may follow %j is one candidate per line, and a directive', async (words, expected) => {
  const { code, out } = await shootFlux(['__complete', ...words]);
  expect(out).toMatch(expected);
  expect(code).toBe(0);
});

it('the script of bash completes command lines by asking the program', async () => {
  const program = `#!/bin/sh\nexec ${process.execPath} ${join(import.meta.dirname, 'shoot-flux.js')} "$@"\n`;
  const { out } = await shootFlux(['completion', 'bash']);
  const test = `source ./completion\nCOMP_WORDS=(shoot-flux status --st)\nCOMP_CWORD=2\n_shoot_flux\necho "\${COMPREPLY[*]}"\n`;
  await using input = await files({ 'shoot-flux': program, completion: out, test });
  await chmod(input.paths['shoot-flux'], 0o755);
  const env = { ...process.env, PATH: `${input.dir}${delimiter}${process.env.PATH}` };
  const { stdout } = await run('bash', ['test'], { cwd: input.dir, env });
  expect(stdout).toBe('--state\n');
});

it('an unknown shell is a wrong usage', async () => {
  const { code, err } = await shootFlux(['completion', 'tcsh']);
  expect(err).toContain('name a shell: bash, zsh, fish');
  expect(code).toBe(2);
});
