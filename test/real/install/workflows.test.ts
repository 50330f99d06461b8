import { mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleWith, root, scripts } from '../../integration/documents.ts';
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

it.each(names)('%s calls scripts of this repository', async (name) => {
  const text = await readFile(join(folder, name), 'utf8');
  const called = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, script = '']) => script);
  expect(called.length).toBeGreaterThan(0);
  for (const script of called) expect(scripts).toHaveProperty([script]);
});
