import { mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { exampleWith, root, scripts } from '../../integration/documents.ts';
import { buildTools } from '../tools/build.ts';
import { runProgram } from '../tools/cache.ts';

const folder = join(root, '.github/workflows');
const names = await readdir(folder);

it('actionlint accepts every workflow', async () => {
  expect(names.length).toBeGreaterThan(0);
  const { actionlint } = await buildTools(['actionlint']);
  const paths = names.map((name) => join(folder, name));
  expect(await runProgram(actionlint, ['-no-color', '-shellcheck=', '-pyflakes=', ...paths], root)).toBe('');
});

it('actionlint accepts the workflow of the page on pull requests, with the inputs of the action', async () => {
  const { actionlint } = await buildTools(['actionlint']);
  await using project = await mkdtempDisposable(join(tmpdir(), 'workflow-'));
  const place = async (path: string, text: string) => {
    await mkdir(dirname(join(project.path, path)), { recursive: true });
    await writeFile(join(project.path, path), text);
  };
  await mkdir(join(project.path, '.git'));
  await place('action/action.yml', await readFile(join(root, 'infra/github-action/action.yml'), 'utf8'));
  const workflow = exampleWith('docs/howto/pull-requests.md', 'jobs').replace(/my-org\/.*/, './action');
  const lint = async (text: string) => {
    await place('.github/workflows/check.yaml', text);
    return runProgram(actionlint, ['-no-color', '-shellcheck=', '-pyflakes='], project.path);
  };
  expect(workflow).toContain('uses: ./action\n');
  expect(await lint(workflow)).toBe('');
  await expect(lint(workflow.replace('flux-versions:', 'flux-release:'))).rejects.toThrow(
    '"flux-release" is not defined',
  );
});

it('the workflows call scripts of this repository', async () => {
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const called = texts.flatMap((text) => [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)]);
  expect(called.length).toBeGreaterThan(0);
  for (const [, script = ''] of called) expect(scripts).toHaveProperty([script]);
});

it.each([...names.map((name) => join('.github/workflows', name)), 'infra/github-action/action.yml'])(
  '%s names each action of others by its commit, and its version beside it',
  async (path) => {
    const text = await readFile(join(root, path), 'utf8');
    const used = [...text.matchAll(/uses: *([^ .].+)/g)].map(([, action = '']) => action);
    expect(used.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  },
);

it('what signs releases and what the scan runs needs no packages', async () => {
  const scripts = ['infra/release/publish.ts', 'infra/release/vex.ts', 'test/real/tools/build.ts'];
  const { metafile } = await build({
    entryPoints: scripts.map((path) => join(root, path)),
    ...{ bundle: true, platform: 'node', format: 'esm', packages: 'external' },
    ...{ metafile: true, write: false, outdir: 'out' },
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  expect(imports).toContain('node:fs/promises');
  expect(imports.filter((path) => !path.startsWith('node:'))).toEqual([]);
});

it('the workflow that signs takes nothing from its caller, and installs no packages where it may sign', async () => {
  const read = async (name: string) => parse(await readFile(join(folder, name), 'utf8'));
  const { on, jobs } = await read('build-release.yaml');
  expect(on).toEqual({ workflow_call: null });
  const { build } = (await read('release.yaml')).jobs;
  expect(Object.keys(build)).toEqual(['uses', 'permissions']);
  const installs = ({ steps }: { steps: { run?: string }[] }) =>
    steps.some(({ run }) => /npm (ci|install)/.test(run ?? ''));
  expect(installs(jobs.build)).toBe(true);
  expect(jobs.build.permissions).toBeUndefined();
  expect(jobs.publish.permissions['id-token']).toBe('write');
  expect(installs(jobs.publish)).toBe(false);
});
