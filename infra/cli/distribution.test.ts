import { execFile } from 'node:child_process';
import { appendFile, cp, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { standIn } from '../../shared/flux/testing.ts';
import { files, shootFlux } from './testing.ts';

const run = promisify(execFile);
const release = join(standIn.folder, standIn.version);

function make(dir: string, from = release, version = standIn.version) {
  return shootFlux(['distribution', 'make', '--flux-distribution', dir, '--from', from, '--version', version]);
}

function inspect(dir: string, ...args: string[]) {
  return shootFlux(['distribution', 'inspect', '--flux-distribution', dir, ...args]);
}

test('makes a release from a folder, with checksums that sha256sum verifies', async () => {
  await using target = await files({});
  const dir = join(target.dir, 'new');
  const { code, out, err } = await make(dir);
  expect({ code, out }).toEqual({ code: 0, out: '' });
  expect(err).toMatch(
    /v2\.9\.99: created with helm-controller, kustomize-controller, notification-controller, source-/,
  );
  const made = join(dir, standIn.version);
  expect(await readdir(dir)).toEqual([standIn.version]);
  expect((await stat(made)).mode & 0o777).toBe(0o755);
  const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: made });
  // The files of the release without their own checksums, and release.json.
  expect(stdout.match(/: OK/g)).toHaveLength((await readdir(release)).length);
  expect(stdout).toContain('release.json: OK');
  const [one, other] = [standIn.folder, dir].map((each) => openDistribution(each).release(standIn.version));
  expect(await one).toEqual(await other);
});

test('makes the same release from manifests.tar.gz, and only once', async () => {
  await using target = await files({});
  const archive = join(target.dir, 'manifests.tar.gz');
  await run('tar', ['--create', '--gzip', '--file', archive, '--directory', release, '.']);
  const dir = join(target.dir, 'distribution');
  expect(await make(dir, archive, '2.9.99')).toMatchObject({ code: 0, err: expect.stringContaining(': created with') });
  expect(await make(dir)).toMatchObject({ code: 0, err: expect.stringContaining('already exists') });
});

test('completes a folder with the plain files of the same release', async () => {
  await using target = await files({});
  const folder = join(target.dir, 'v2.9.99');
  await cp(release, folder, { recursive: true });
  await rm(join(folder, 'SHA256SUMS'), { force: true });
  const completed = expect.stringContaining(
    'v2.9.99: completed with SHA256SUMS and release.json, with helm-controller',
  );
  expect(await make(target.dir)).toMatchObject({ code: 0, err: completed });
  expect(await readdir(folder)).toEqual(expect.arrayContaining(['SHA256SUMS', 'release.json', 'rbac.yaml']));
  expect(await readdir(target.dir)).toEqual(['v2.9.99']);
  const exists = expect.stringContaining('already exists');
  expect(await make(target.dir)).toMatchObject({ code: 0, err: exists });
});

test.each([
  ['plain files of another release', true],
  ['other files of the same version', false],
])('refuses %s', async (_, isPlain) => {
  await using target = await files({});
  const folder = join(target.dir, 'v2.9.99');
  await make(target.dir);
  if (isPlain) await rm(join(folder, 'SHA256SUMS'));
  await using changed = await files(await releaseFiles());
  await appendFile(join(changed.dir, 'rbac.yaml'), '# changed\n');
  expect(await make(target.dir, changed.dir, 'v2.9.99')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/holds different files for v2\.9\.99; delete the folder and repeat the command\.\n$/),
  });
  expect(await readdir(target.dir)).toEqual(['v2.9.99']);
});

test('says what to do where a file has the place of the folder, and accepts a link to the same release', async () => {
  await using at = await files({ 'v2.9.99': 'text' });
  expect(await make(at.dir)).toMatchObject({
    code: 1,
    err: `shoot-flux distribution: cannot create the folder ${at.paths['v2.9.99']} (ENOTDIR); remove what is in its place, and repeat the command.\n`,
  });
  const other = join(at.dir, 'other');
  expect(await make(other)).toMatchObject({ code: 0 });
  await rm(at.paths['v2.9.99']);
  await symlink(join(other, 'v2.9.99'), at.paths['v2.9.99']);
  expect(await make(at.dir)).toMatchObject({
    code: 0,
    err: expect.stringContaining('already exists'),
  });
});

test('refuses an incomplete release', async () => {
  const { 'rbac.yaml': _, ...half } = await releaseFiles();
  await using source = await files(half);
  await using target = await files({});
  const { code, err } = await make(target.dir, source.dir, 'v2.9.99');
  expect(code).toBe(1);
  expect(err).toContain('lacks rbac.yaml; provide all files of one release.');
  expect(await readdir(target.dir)).toEqual([]);
});

test.each([
  [['make', '--from', 'x'], 'make requires --from-release, or --from and --version'],
  [['make', '--from', 'x', '--version', 'newest'], '"newest" is not a version such as v2.9.4'],
  [['frob'], 'specify "make", "inspect", "images", "mirror" or "push"'],
  [[], 'specify "make", "inspect", "images", "mirror" or "push"'],
  [['inspect', 'x'], 'unexpected argument "x"'],
  [['inspect', '--sha256', '0'.repeat(64)], '--sha256 has no effect on inspect; remove it'],
  [['make', '--from', 'x', '--version', 'v2.9.4', '--json'], '--json has no effect on make; remove it'],
])('rejects %j as wrong usage', async (args, message) => {
  const ran = await shootFlux(['distribution', ...args, '--flux-distribution', '/nowhere']);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining(message) });
});

test('inspect shows what a distribution holds', async () => {
  const { code, out } = await inspect(standIn.folder);
  expect(code).toBe(0);
  expect(out).toMatch(/^v2\.9\.99 {2}sha256 [0-9a-f]{12}, checksums verified, Kubernetes 1\.34 and newer\n/);
  expect(out).toContain('\n    source-controller stand-in\n');
  expect(JSON.parse((await inspect(standIn.folder, '--json')).out)).toMatchObject([
    { version: 'v2.9.99', pinned: false, components: { 'helm-controller': 'stand-in' }, oldestKubernetes: '1.34' },
  ]);
});

test('inspect fails for a release that was changed, and for one that lacks files', async () => {
  await using target = await files({});
  await make(target.dir);
  expect(await inspect(target.dir)).toMatchObject({ code: 0, out: expect.stringContaining('checksums verified') });
  await appendFile(join(target.dir, 'v2.9.99', 'rbac.yaml'), '# changed\n');
  await mkdir(join(target.dir, 'v2.9.98'));
  await writeFile(join(target.dir, 'v2.9.98', 'SHA256SUMS'), '');
  const { code, out } = await inspect(target.dir);
  expect(code).toBe(1);
  expect(out).toMatch(/^v2\.9\.99 {2}Flux release .*: rbac\.yaml differs from SHA256SUMS; /m);
  expect(out).toMatch(/^v2\.9\.98 {2}\S+v2\.9\.98 lacks policies\.yaml, rbac\.yaml, source-controller\.yaml; /m);
});

test('images lists the images by their tags where digests are unknown', async () => {
  const { code, out, err } = await shootFlux(['distribution', 'images', '--flux-distribution', standIn.folder]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  for (const name of ['helm', 'kustomize', 'notification', 'source'])
    expect(out).toContain(`ghcr.io/fluxcd/${name}-controller:stand-in\n`);
});

test.each([
  [['--version', 'v1.0.0'], 1, `holds no Flux v1.0.0; it holds ${standIn.version}.`],
  [['--to', 'https://registry.example.com'], 2, 'has a scheme; remove it, as in ghcr.io/fluxcd'],
])('images refuses %j', async (args, code, message) => {
  const answer = await shootFlux(['distribution', 'images', '--flux-distribution', standIn.folder, ...args]);
  expect(answer).toMatchObject({ code, err: expect.stringContaining(message) });
});

test('reports a distribution folder that cannot be written', async () => {
  await using target = await files({ file: '' });
  const { code, err } = await make(target.paths.file);
  expect(code).toBe(1);
  expect(err).toMatch(/cannot write to \S+file: E.*; choose a writable folder\.\n$/);
});

test('all commands report a folder without releases', async () => {
  await using target = await files({});
  await mkdir(join(target.dir, 'drafts'));
  expect(await inspect(target.dir)).toMatchObject({ code: 1, out: '' });
  for (const name of ['render', 'validate']) {
    expect(await shootFlux([name, '--flux-distribution', target.dir])).toEqual({
      code: 1,
      out: '',
      err: `shoot-flux ${name}: ${target.dir} holds no Flux release; add one with "distribution make".\n`,
    });
  }
});

async function releaseFiles(): Promise<Record<string, string>> {
  const names = await readdir(release);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(release, name), 'utf8')] as const)),
  );
}
