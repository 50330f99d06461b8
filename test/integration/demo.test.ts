import { spawn } from 'node:child_process';
import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { expect, it } from 'vitest';
import { documented, expanded } from './documents.ts';

const root = join(import.meta.dirname, '../..');

const [, ...command] = expanded(documented('README.md', 'npm run demo')).split(' ');

/** Starts the demo. */
function start(args: string[], variables: NodeJS.ProcessEnv = {}) {
  return spawn(process.execPath, [...command, ...args], { cwd: root, env: { ...process.env, ...variables } });
}

async function demo(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = start(args);
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, output };
}

it('delivers podinfo and then a commit to two Shoots, and prints the progress', async () => {
  const { code, output } = await demo();
  expect(output).toContain('Done: both Shoots run the latest commit.');
  expect(output).toMatch(/this kustomize-controller applies plain YAML/);
  expect(output).toMatch(/^ +ssh-ed25519 \S+ shoot-flux\/demo\/demo$/m);
  expect(output).toMatch(/ƒ managed-resources +\d+ ms +shoot--demo--spring\/shoot-flux +<- /);
  for (const shoot of ['spring', 'summer']) {
    const row = new RegExp(`^ +shoot--demo--${shoot} +Succeeded +v2\\S+ +(main@sha1:\\w+) +\\1 +6\\.9\\.4$`, 'm');
    expect(output).toMatch(row);
  }
  expect(output).not.toContain('PRIVATE KEY');
  expect(code).toBe(0);
});

it('ends at once with wrong arguments', async () => {
  expect(await demo('--flux-distribution', 'nowhere')).toMatchObject({
    code: 1,
    output: expect.stringContaining('nowhere'),
  });
  expect(await demo('--nonsense')).toMatchObject({ code: 2, output: expect.stringContaining('--keep') });
});

it.each([
  ['Ctrl-C', (child: ReturnType<typeof start>) => child.kill('SIGINT')],
  ['a reader that has seen enough', (child: ReturnType<typeof start>) => child.stdout.destroy()],
])('ends on %s in the middle, and leaves nothing behind', async (_, interrupt) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'demo-'));
  const child = start(['--flux-distribution', standInDistribution.folder], { TMPDIR: folder.path });
  let interrupted = false;
  child.stdout.on('data', (chunk) => {
    if (interrupted || !String(chunk).includes('Two Shoots')) return;
    interrupted = true;
    interrupt(child);
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  expect({ code, interrupted, left: await readdir(folder.path) }).toEqual({ code: 1, interrupted: true, left: [] });
});
