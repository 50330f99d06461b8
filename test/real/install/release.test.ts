import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { commands, expanded, root } from '../../integration/documents.ts';
import { buildTools } from '../tools/build.ts';
import { installDebian } from '../tools/debian.ts';
import { buildBases, makeStore } from './bases.ts';
import { helm } from './helm.ts';
import { type Registry, startRegistry } from './registry.ts';

const run = promisify(execFile);

/** Written and published by the commands of docs/release.md. */
describe('a release', () => {
  let folder: string;
  let out: string;
  let registry: Registry;
  let published: string[];

  beforeAll(async () => {
    await installDebian(['buildah']);
    folder = await mkdtemp(join(tmpdir(), 'release-'));
    out = join(folder, 'release');
    registry = await startRegistry();
    const store = await makeStore(join(folder, 'store'));
    await buildBases(store, folder);
    const tools = await buildTools(['crane', 'helm']);
    for (const [name, path] of Object.entries(tools)) await symlink(path, join(folder, name));
    const env = { ...process.env, ...store.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
    const bases = ['--base-image', 'localhost/base:test', '--node-image', 'localhost/node:test'];
    await run(process.execPath, [...documented('npm run release '), '--out', out, ...bases], { cwd: root, env });
    const publish = [...documented('npm run publish-release '), '--from', out, '--plain-http'];
    await run(process.execPath, publish, { cwd: root, env });
    published = (await readFile(join(out, 'PUBLISHED'), 'utf8')).trim().split('\n');
  }, 600_000);
  afterAll(async () => {
    await registry?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  /** The arguments of a command of the page, with the registry of this test. */
  function documented(start: string): string[] {
    const found = commands.find(({ path, command }) => path === 'docs/release.md' && command.startsWith(start));
    const [, ...args] = expanded(found?.command ?? '').split(/ +/);
    return args.map((arg) => arg.replace('registry.example.com', registry.host));
  }

  it('has checksums that sha256sum accepts, of the image too', async () => {
    await run('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: out });
    expect(await readFile(join(out, 'SHA256SUMS'), 'utf8')).toMatch(/ {2}image\/index\.json$/m);
  });

  it('has the image that the registry gets', async () => {
    const index = JSON.parse(await readFile(join(out, 'image/index.json'), 'utf8'));
    const { digest, config } = await registry.inspect(`${registry.host}/gardener/shoot-flux:0.1.0-rc.1`);
    expect(digest).toBe(index.manifests[0].digest);
    expect(config.Labels['org.opencontainers.image.version']).toBe('0.1.0-rc.1');
    expect(published[0]).toBe(`${registry.host}/gardener/shoot-flux@${digest}`);
  });

  it('has a bill of materials', async () => {
    const { components } = JSON.parse(await readFile(join(out, 'sbom.json'), 'utf8'));
    expect(components.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['node', 'libc6']));
  });

  it('has charts that Helm pulls where the registrations expect them, and renders with the image', async () => {
    expect(published).toHaveLength(1 + (await readdir(join(out, 'charts'))).length);
    const charts = await readFile(join(out, 'registration/operator-extension.yaml'), 'utf8');
    const { spec } = parse(charts);
    const { extension, admission } = spec.deployment;
    for (const { helm: source } of [extension, admission.runtimeCluster, admission.virtualCluster]) {
      const [, name, version = ''] = /^(.*):([^:]+)$/.exec(source.ociRepository.ref) ?? [];
      await helm('pull', `oci://${name}`, '--version', version, '--plain-http', '--destination', folder);
    }
    const chart = join(folder, 'shoot-flux-0.1.0-rc.1.tgz');
    const rendered = await helm('template', 'x', chart, '--set', 'gardener.seed.name=my-seed');
    expect(rendered).toContain(`image: ${registry.host}/gardener/shoot-flux:0.1.0-rc.1`);
  });
});
