import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { standIn } from '../../shared/flux/testing.ts';
import { root } from '../../test/integration/documents.ts';
import { findAllDefinitions, isQueued } from '../functions.ts';
import { CHECKSUMS, filesBelow } from './checksums.ts';
import { checkVersion, makeRelease, notesOf, writeFiles } from './release.ts';

const run = promisify(execFile);

const changelog = `# Changelog

## [Unreleased]

- Next.

## [0.1.0] - 2026-12-01

### Added

- Flux.

## [0.0.1] - 2026-11-01
`;

test('the notes of a release are its section of the changelog, and those of a candidate what is unreleased', () => {
  expect(notesOf(changelog, '0.1.0')).toBe('# shoot-flux 0.1.0\n\n### Added\n\n- Flux.\n');
  expect(notesOf(changelog, '0.2.0-rc.1')).toBe('# shoot-flux 0.2.0-rc.1\n\n- Next.\n');
  expect(() => notesOf(changelog, '0.2.0')).toThrow('CHANGELOG.md has no section [0.2.0]; rename the section');
});

test.each(['v0.1.0', '0.1', '0.1.0+build', '', '../0.1.0'])('%j is not a version', (version) => {
  expect(() => checkVersion(version)).toThrow('is not a version; write it like 0.1.0');
});

const release = {
  ...{ version: '1.2.3-rc.1', registry: 'registry.example.org/gardener', distribution: standIn.folder },
  downloads: 'https://git.example.org/releases/v1.2.3-rc.1',
};
const definitions = await findAllDefinitions();

describe('the files of a release', () => {
  let folder: string;
  let out: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'release-'));
    out = join(folder, 'one');
    await makeRelease({ ...release, out });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const read = (path: string) => readFile(join(out, path));
  const text = async (path: string) => (await read(path)).toString('utf8');

  it('are the same when they are written again', async () => {
    const again = join(folder, 'again');
    await makeRelease({ ...release, out: again });
    expect(await readFile(join(again, CHECKSUMS), 'utf8')).toBe(await text(CHECKSUMS));
  });

  it('have checksums, all of them', async () => {
    const sums = new Map((await text(CHECKSUMS)).split('\n').map((line) => [line.slice(66), line.slice(0, 64)]));
    const files = (await filesBelow(out)).filter((path) => path !== CHECKSUMS);
    expect(files.length).toBeGreaterThan(20);
    for (const path of files)
      expect([path, sums.get(path)]).toEqual([
        path,
        createHash('sha256')
          .update(await read(path))
          .digest('hex'),
      ]);
  });

  it('have charts with the version and the registry', async () => {
    const charts = (await filesBelow(out)).filter((path) => path.startsWith('charts/'));
    expect(charts).toEqual([
      'charts/shoot-flux-1.2.3-rc.1.tgz',
      'charts/shoot-flux-admission-1.2.3-rc.1.tgz',
      'charts/shoot-flux-admission-application-1.2.3-rc.1.tgz',
      'charts/shoot-flux-admission-runtime-1.2.3-rc.1.tgz',
    ]);
    for (const chart of charts) {
      const content = gunzipSync(await read(chart)).toString('latin1');
      expect(content).toContain('\nversion: 1.2.3-rc.1\nappVersion: 1.2.3-rc.1\n');
      expect(content).not.toContain('repository: registry.example.com');
    }
    const [seed = ''] = charts;
    expect(gunzipSync(await read(seed)).toString('latin1')).toContain(
      'repository: registry.example.org/gardener/shoot-flux\n',
    );
  });

  it('have registrations and manifests that name image and charts', async () => {
    const chart = 'registry.example.org/gardener/charts/shoot-flux:1.2.3-rc.1';
    expect(await text('registration/controller-registration.yaml')).toContain(chart);
    expect(await text('registration/operator-extension.yaml')).toContain(chart);
    expect(await text('registration/controller-registration-inline.yaml')).toContain('rawChart: H4sI');
    expect(await text('registration/operator-extension.yaml.tpl')).not.toMatch(/1\.2\.3-rc\.1|registry\.example\.org/);
    expect(await text('NOTES.md')).toMatch(/^# shoot-flux 1\.2\.3-rc\.1\n/);
    expect(await text('knative/overlays/example/kustomization.yaml')).toContain(
      'newName: registry.example.org/gardener/shoot-flux\n    newTag: 1.2.3-rc.1\n',
    );
  });

  it('have notes whose links work on the page that the workflow makes', async () => {
    const workflow = await readFile(join(root, '.github/workflows/release.yaml'), 'utf8');
    const [command = 'none'] = /sed -i .+ NOTES\.md$/m.exec(workflow) ?? [];
    const place = join(folder, 'page');
    await writeFiles(place, { 'NOTES.md': await text('NOTES.md') });
    const env = { ...process.env, GITHUB_REPOSITORY: 'my-org/shoot-flux', GITHUB_REF_NAME: 'v1.2.3-rc.1' };
    await run('sh', ['-c', command], { cwd: place, env });
    const notes = await readFile(join(place, 'NOTES.md'), 'utf8');
    expect(notes).toContain('(https://github.com/my-org/shoot-flux/blob/v1.2.3-rc.1/docs/release.md)');
    const links = [...notes.matchAll(/\]\(([^)]*)\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !/^https:\/\/[^:]+$/.test(link))).toEqual([]);
  });

  it('have the JSON Schemas, each of which the workflow makes an asset', async () => {
    const schemas = (await filesBelow(out)).filter((path) => path.startsWith('schemas/'));
    expect(schemas).toEqual(
      ['config', 'flux-config', 'overrides', 'provider-config'].map((name) => `schemas/${name}.json`),
    );
    for (const path of schemas) expect(await text(path)).toBe(await readFile(join(root, 'docs', path), 'utf8'));
    const workflow = await readFile(join(root, '.github/workflows/release.yaml'), 'utf8');
    expect(workflow.slice(workflow.indexOf('gh release create'))).toContain(' schemas/* ');
  });

  it('have a package for each function, which Lambda can load, with the distribution where Flux is installed', async () => {
    for (const definition of definitions) {
      const files = unzipSync(await read(`lambda/${definition.name}.zip`));
      const unpacked = join(folder, 'lambda', definition.name);
      await writeFiles(
        unpacked,
        Object.fromEntries(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)])),
      );
      // The handler of serverless.yml.
      const entry = join(unpacked, `dist/functions/${definition.name}/index.mjs`);
      expect(typeof (await import(pathToFileURL(entry).href)).handler).toBe('function');
      const hasFlux = Object.keys(files).some((path) => path.startsWith('dist/flux-distribution/'));
      expect([definition.name, hasFlux]).toEqual([definition.name, isQueued(definition)]);
    }
  });

  it('have the command as one file, as a package of npm, and for the plugins of kubectl and flux', async () => {
    const sums = await text(CHECKSUMS);
    const sumOf = (path: string) => new RegExp(`^(\\w{64})  command/${path}$`, 'm').exec(sums)?.[1] ?? 'none';
    const archive = 'shoot-flux-command-1.2.3-rc.1.tgz';
    const { spec } = parse(await text('command/krew.yaml'));
    const krew = { uri: `${release.downloads}/${archive}`, sha256: sumOf(archive), bin: 'package/shoot-flux' };
    expect(spec.version).toBe('v1.2.3-rc.1');
    expect(spec.platforms).toEqual([expect.objectContaining(krew), expect.objectContaining(krew)]);
    const [{ platforms }] = parse(await text('command/flux-plugin.yaml')).versions;
    const flux = { url: `${release.downloads}/shoot-flux`, checksum: `sha256:${sumOf('shoot-flux')}` };
    expect(platforms).toEqual(Array.from({ length: 4 }, () => expect.objectContaining(flux)));
    await run('tar', ['--extract', '--file', join(out, 'command', archive), '--directory', folder]);
    const { bin } = JSON.parse(await readFile(join(folder, 'package/package.json'), 'utf8'));
    expect(Object.keys(bin)).toEqual(['shoot-flux', 'kubectl-shoot_flux', 'flux-shoot']);
    const { stdout } = await run(join(folder, 'package', bin['flux-shoot']), ['--version']);
    expect(stdout).toBe('1.2.3-rc.1\n');
  });

  it('are not mixed with those of another release', async () => {
    await expect(makeRelease({ ...release, out })).rejects.toThrow('contains a release already; remove it');
  });
});
