import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { digestsIn, registration } from '../../../infra/gardener/registration/registration.ts';
import { documented, exampleWith } from '../../integration/documents.ts';
import { followPage } from '../../integration/followed-page.ts';
import { buildTools } from '../tools/build.ts';
import { folderWith, runProgram } from '../tools/cache.ts';
import { makeBuildPlace, REGISTRY, STAND_IN } from './build-place.ts';
import { helm } from './helm.ts';
import { OWN, type Registry, startRegistry } from './registry.ts';
import type { Workplace } from './workplace.ts';

/** Returns what gardener-landscape-kit puts into templates; it leaves out resources of other types. */
function kitValues({ version, resources }: Component): object {
  const fields: Record<string, string> = { ociImage: 'ociImage', 'helmChart/v1': 'helmChart' };
  const known = resources.flatMap(({ name, type, access }) => {
    const key = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    const field = fields[type];
    return field === undefined ? [] : [[key, { [field]: { ref: access.imageReference } }] as const];
  });
  return { version, resources: Object.fromEntries(known) };
}

interface Component {
  version: string;
  resources: { name: string; type: string; access: { imageReference: string } }[];
}

/** Written and published by the commands of docs/release.md. */
describe('a release', () => {
  const page = followPage('docs/release.md');
  let workplace: Workplace;
  let out: string;
  let registry: Registry;
  let published: string[];

  beforeAll(async () => {
    registry = await startRegistry();
    workplace = await makeBuildPlace(registry);
    out = join(workplace.folder, 'dist/release');
    await page.follow('Make one', workplace.run);
    published = (await readFile(join(out, 'PUBLISHED'), 'utf8')).trim().split('\n');
  });
  afterAll(async () => {
    await registry?.[Symbol.asyncDispose]();
    await workplace?.remove();
  });

  it('has checksums that sha256sum accepts, of the image too', async () => {
    await runProgram('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], out);
    expect(await readFile(join(out, 'SHA256SUMS'), 'utf8')).toMatch(/ {2}image\/index\.json$/m);
  });

  it('has the image that the registry gets', async () => {
    const index = JSON.parse(await readFile(join(out, 'image/index.json'), 'utf8'));
    const { digest, config } = await registry.inspect(`${registry.host}/gardener/shoot-flux:0.1.0-rc.1`);
    expect(digest).toBe(index.manifests[0].digest);
    expect(config.Labels['org.opencontainers.image.version']).toBe('0.1.0-rc.1');
    expect(published[0]).toBe(`${REGISTRY}/gardener/shoot-flux@${digest}`);
  });

  it('has an image for amd64 and one for arm64, which differ in base and Node.js alone', async () => {
    const name = `${registry.host}/gardener/shoot-flux:0.1.0-rc.1`;
    const [amd64, arm64] = ['linux/amd64', 'linux/arm64'];
    const image = await registry.inspect(name, amd64);
    const other = await registry.inspect(name, arm64);
    expect(image.platforms).toEqual([amd64, arm64]);
    expect([image.architecture, other.architecture]).toEqual(['amd64', 'arm64']);
    expect(other.config).toEqual(image.config);
    const [root, otherRoot] = [join(workplace.folder, 'amd64'), join(workplace.folder, 'arm64')];
    await registry.unpack(name, root, amd64);
    await registry.unpack(name, otherRoot, arm64);
    const differences = await runProgram('diff', ['--recursive', join(root, 'app'), join(otherRoot, 'app')]);
    expect(differences).toBe('');
    expect((await stat(join(otherRoot, 'app/shoot-flux.mjs'))).size).toBeGreaterThan(0);
    expect((await stat(join(root, 'usr/lib/x86_64-linux-gnu/libstdc++.so.6'))).size).toBeGreaterThan(0);
    expect((await stat(join(otherRoot, 'usr/lib/aarch64-linux-gnu/libstdc++.so.6'))).size).toBeGreaterThan(0);
    const node = await readFile(join(OWN === arm64 ? root : otherRoot, 'usr/local/bin/node'), 'utf8');
    expect(node).toBe(STAND_IN);
  });

  it('has a component descriptor of OCM with what the registry has', async () => {
    const { meta, component } = parse(await readFile(join(out, 'component-descriptor.yaml'), 'utf8'));
    expect(meta).toEqual({ schemaVersion: 'v2' });
    expect(component).toMatchObject({
      name: `${REGISTRY}/gardener/shoot-flux`,
      ...{ version: '0.1.0-rc.1', provider: `${REGISTRY}/gardener` },
      ...{ repositoryContexts: [], sources: [], componentReferences: [] },
    });
    const found: string[] = [];
    for (const { name, version, type, access, digest } of component.resources) {
      found.push(`${type} ${name} ${version}`);
      const stored = await runProgram(join(workplace.folder, 'bin/crane'), ['digest', access.imageReference]);
      expect(digest).toEqual({
        ...{ hashAlgorithm: 'SHA-256', normalisationAlgorithm: 'ociArtifactDigest/v1' },
        value: stored.trim().replace('sha256:', ''),
      });
    }
    expect(found).toEqual([
      'ociImage image 0.1.0-rc.1',
      'helmChart/v1 shoot-flux 0.1.0-rc.1',
      'helmChart/v1 shoot-flux-admission 0.1.0-rc.1',
      'helmChart/v1 shoot-flux-admission-application 0.1.0-rc.1',
      'helmChart/v1 shoot-flux-admission-runtime 0.1.0-rc.1',
    ]);
  });

  it('has a template for gardener-landscape-kit, which its component descriptor makes the Extension', async () => {
    const { component } = parse(await readFile(join(out, 'component-descriptor.yaml'), 'utf8'));
    await using folder = await folderWith({
      'Chart.yaml': 'apiVersion: v2\nname: kit\nversion: 1.0.0\n',
      'values.yaml': stringify(kitValues(component)),
      'extension.tpl': await readFile(join(out, 'registration/operator-extension.yaml.tpl'), 'utf8'),
      'templates/extension.yaml': '{{ tpl (.Files.Get "extension.tpl") .Values }}',
      'landscape/kustomization.yaml': exampleWith('docs/howto/from-git.md', 'resources'),
    });
    await writeFile(join(folder.path, 'landscape/operator-extension.yaml'), await helm('template', 'kit', folder.path));
    const { kustomize } = await buildTools(['kustomize']);
    const built = await runProgram(kustomize, ['build', join(folder.path, 'landscape')]);
    expect(built).toContain(published[0]?.split('@')[1]);
    expect(parse(built)).toEqual(parse(await readFile(join(out, 'registration/operator-extension.yaml'), 'utf8')));
  });

  it('has the registrations that the digests of PUBLISHED give', async () => {
    const digests = digestsIn(published.join('\n'));
    const release = { version: '0.1.0-rc.1', registry: `${REGISTRY}/gardener`, digests };
    for (const [file, form] of [
      ['controller-registration.yaml', 'pull'],
      ['controller-registration-inline.yaml', 'inline'],
      ['operator-extension.yaml', 'operator'],
    ] as const)
      expect(await readFile(join(out, 'registration', file), 'utf8')).toBe(await registration(release, form));
  });

  it('has charts that Helm pulls where the registrations expect them, and renders with the image', async () => {
    expect(published).toHaveLength(1 + (await readdir(join(out, 'charts'))).length);
    const charts = await readFile(join(out, 'registration/operator-extension.yaml'), 'utf8');
    const { spec } = parse(charts);
    const { extension, admission } = spec.deployment;
    for (const { helm: source } of [extension, admission.runtimeCluster, admission.virtualCluster]) {
      const [, name, version = '', digest] = /^(.*):([^:@]+)@(.*)$/.exec(source.ociRepository.ref) ?? [];
      expect(published).toContain(`${name}@${digest}`);
      await workplace.run(`helm pull oci://${name} --version ${version}`);
    }
    const chart = join(workplace.folder, 'shoot-flux-0.1.0-rc.1.tgz');
    const rendered = await helm('template', 'x', chart, '--set', 'gardener.seed.name=my-seed');
    expect(`${extension.values.image.repository}@${extension.values.image.digest}`).toBe(published[0]);
    expect(rendered).toContain(`image: ${REGISTRY}/gardener/shoot-flux:0.1.0-rc.1`);
  });

  it('stays the same when it is published again', async () => {
    const checksums = await readFile(join(out, 'SHA256SUMS'), 'utf8');
    await workplace.run(documented('docs/release.md', 'publish-release'));
    expect(await readFile(join(out, 'SHA256SUMS'), 'utf8')).toBe(checksums);
  });
});
