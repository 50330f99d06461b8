import { execFile } from 'node:child_process';
import { appendFile, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { standIn } from '../../shared/flux/testing.ts';
import { files, shootFlux } from './testing.ts';

const run = promisify(execFile);
const release = join(standIn.folder, standIn.version);

function make(dir: string, from: string, version: string) {
  return shootFlux(['distribution', 'make', '--flux-distribution', dir, '--from', from, '--version', version]);
}

function inspect(dir: string, ...args: string[]) {
  return shootFlux(['distribution', 'inspect', '--flux-distribution', dir, ...args]);
}

test('a folder of files becomes a release with checksums that sha256sum verifies', async () => {
  await using target = await files({});
  const dir = join(target.dir, 'new');
  const { code, out, err } = await make(dir, release, standIn.version);
  expect({ code, out }).toEqual({ code: 0, out: '' });
  expect(err).toMatch(/v2\.9\.99: made, with helm-controller, kustomize-controller, notification-controller, source-/);
  const made = join(dir, standIn.version);
  expect(await readdir(dir)).toEqual([standIn.version]);
  expect((await stat(made)).mode & 0o777).toBe(0o755);
  const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: made });
  expect(stdout.match(/: OK/g)).toHaveLength((await readdir(release)).length + 1);
  expect(stdout).toContain('release.json: OK');
  const [one, other] = [standIn.folder, dir].map((each) => openDistribution(each).release(standIn.version));
  expect(await one).toEqual(await other);
});

test('manifests.tar.gz gives the same release, which is made once', async () => {
  await using target = await files({});
  const archive = join(target.dir, 'manifests.tar.gz');
  await run('tar', ['--create', '--gzip', '--file', archive, '--directory', release, '.']);
  const dir = join(target.dir, 'distribution');
  expect(await make(dir, archive, '2.9.99')).toMatchObject({ code: 0, err: expect.stringContaining(': made, with') });
  expect(await make(dir, release, 'v2.9.99')).toMatchObject({ code: 0, err: expect.stringContaining('already there') });
});

test('other files of the same version are refused', async () => {
  await using target = await files({});
  await make(target.dir, release, 'v2.9.99');
  await using changed = await files(await releaseFiles());
  await appendFile(join(changed.dir, 'rbac.yaml'), '# changed\n');
  const { code, err } = await make(target.dir, changed.dir, 'v2.9.99');
  expect(code).toBe(1);
  expect(err).toMatch(/v2\.9\.99: holds other files of v2\.9\.99: remove the folder to make it again\.\n$/);
  expect(await readdir(target.dir)).toEqual(['v2.9.99']);
});

test('half a release is refused', async () => {
  const { 'rbac.yaml': _, ...half } = await releaseFiles();
  await using source = await files(half);
  await using target = await files({});
  const { code, err } = await make(target.dir, source.dir, 'v2.9.99');
  expect(code).toBe(1);
  expect(err).toContain('without rbac.yaml: give all files of one release.');
  expect(await readdir(target.dir)).toEqual([]);
});

test.each([
  [['make', '--from', 'x'], 'make needs --from and --version'],
  [['make', '--from', 'x', '--version', 'newest'], '"newest" is not a release such as v2.9.4'],
  [['frob'], 'say whether to make or to inspect'],
  [[], 'say whether to make or to inspect'],
  [['inspect', 'x'], '"x" is one argument too many'],
])('%j is wrong usage', async (args, message) => {
  const ran = await shootFlux(['distribution', ...args, '--flux-distribution', '/nowhere']);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining(message) });
});

test('what is no archive is said', async () => {
  await using target = await files({ 'manifests.tar.gz': 'no archive' });
  const { code, err } = await make(target.dir, target.paths['manifests.tar.gz'], 'v2.9.4');
  expect(code).toBe(1);
  expect(err).toContain('cannot be read (incorrect header check): give manifests.tar.gz or a folder.');
});

test('inspect tells what a distribution holds', async () => {
  const { code, out } = await inspect(standIn.folder);
  expect(code).toBe(0);
  expect(out).toMatch(/^v2\.9\.99 {2}sha256 [0-9a-f]{12}, no checksums, Kubernetes 1\.34 and newer\n/);
  expect(out).toContain('\n    source-controller stand-in\n');
  expect(JSON.parse((await inspect(standIn.folder, '--json')).out)).toMatchObject([
    { version: 'v2.9.99', verified: false, components: { 'helm-controller': 'stand-in' }, oldestKubernetes: '1.34' },
  ]);
});

test('inspect finds a release that was changed, and fails', async () => {
  await using target = await files({});
  await make(target.dir, release, 'v2.9.99');
  expect(await inspect(target.dir)).toMatchObject({ code: 0, out: expect.stringContaining('checksums verified') });
  await appendFile(join(target.dir, 'v2.9.99', 'rbac.yaml'), '# changed\n');
  const { code, out } = await inspect(target.dir);
  expect(code).toBe(1);
  expect(out).toMatch(/^v2\.9\.99 {2}Flux release .*: rbac\.yaml differs from SHA256SUMS: /);
});

test('inspect finds a release that lacks files, and fails', async () => {
  await using target = await files({});
  await mkdir(join(target.dir, 'v2.9.98'));
  const { code, out } = await inspect(target.dir);
  expect(code).toBe(1);
  expect(out).toMatch(/^v2\.9\.98 {2}\S+v2\.9\.98: without policies\.yaml, rbac\.yaml, source-controller\.yaml: /);
});

test('a distribution where nothing can be written is said', async () => {
  await using target = await files({ file: '' });
  const { code, err } = await make(target.paths.file, release, 'v2.9.99');
  expect(code).toBe(1);
  expect(err).toMatch(/file: cannot be written \(E.*\): give a folder that can\.\n$/);
});

test('render and validate tell a folder without releases, and what is missing there', async () => {
  await using target = await files({});
  for (const name of ['render', 'validate']) {
    expect(await shootFlux([name, '--flux-distribution', target.dir])).toEqual({
      code: 1,
      out: '',
      err: `shoot-flux ${name}: ${target.dir} holds no Flux release: it needs folders such as v2.9.4, see distribution make.\n`,
    });
  }
});

test('an empty distribution fails', async () => {
  await using target = await files({});
  await mkdir(join(target.dir, 'drafts'));
  expect(await inspect(target.dir)).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('holds no release'),
  });
});

async function releaseFiles(): Promise<Record<string, string>> {
  const names = await readdir(release);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(release, name), 'utf8')] as const)),
  );
}
