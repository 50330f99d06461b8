import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testData } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { files, shootFlux } from '../../../infra/cli/testing.ts';
import { followPage } from '../../integration/followed-page.ts';
import { withTestData } from '../on-real-apis.ts';
import { buildTools } from '../tools/build.ts';
import { runProgram } from '../tools/cache.ts';
import { type Registry, startRegistry } from './registry.ts';
import { makeWorkplace, type Workplace } from './workplace.ts';

const fluxConfig = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'flux-config', namespace: 'garden-my-project' },
  data: { fluxVersion: 'v2.9.4', repositoryUrl: 'https://git.example.com/my-org/my-cluster' },
};

withTestData('docs/howto/air-gapped.md, followed with two registries', () => {
  const release = testData('flux', 'v2.9.4') ?? '';
  const page = followPage('docs/howto/air-gapped.md');
  let crane: string;
  let internet: Registry;
  let inside: Registry;
  let workplace: Workplace;

  const shell = (text: string) => workplace.run(text);
  const written = (name: string) => readFile(join(workplace.folder, name), 'utf8');
  const lines = async (name: string) => (await written(name)).trim().split('\n');

  beforeAll(async () => {
    ({ crane } = await buildTools(['crane']));
    [internet, inside] = await Promise.all([startRegistry(), startRegistry()]);
    workplace = await makeWorkplace({ release });
    await reach(inside);
    const archive = await readFile(join(workplace.folder, 'manifests.tar.gz'));
    const sum = createHash('sha256').update(archive).digest('hex');
    await writeFile(join(workplace.folder, 'flux_2.9.4_checksums.txt'), `${sum}  manifests.tar.gz\n`);
  });

  afterAll(async () => {
    await workplace?.remove();
    await Promise.all([internet?.[Symbol.asyncDispose](), inside?.[Symbol.asyncDispose]()]);
  });

  /** Both registries are on this machine, and have no certificates. */
  async function reach(registry: Registry, outside = internet): Promise<void> {
    const hosts = `s|ghcr.io/|${outside.host}/|; s|registry.example.com/|${registry.host}/|`;
    await workplace.addProgram('crane', `exec ${crane} --insecure $(printf '%s\\n' "$@" | sed '${hosts}')`);
  }

  /** Publishes images for two platforms under the names of Flux's own. */
  async function publish(names: string[]): Promise<void> {
    const { folder } = workplace;
    for (const [index, name] of names.entries()) {
      const target = name.replace('ghcr.io', internet.host);
      const images: string[] = [];
      for (const platform of ['linux/amd64', 'linux/arm64']) {
        const image = `${target}-${platform.slice(6)}`;
        await writeFile(join(folder, 'layer'), `${index} ${platform}`);
        await runProgram('tar', ['-cf', 'layer.tar', 'layer'], folder);
        await runProgram(crane, ['--insecure', 'append', '--new_layer', 'layer.tar', '--new_tag', image], folder);
        images.push('--manifest', image);
      }
      await runProgram(crane, ['--insecure', 'index', 'append', ...images, '--tag', target], folder);
    }
  }

  /** The images of the release, as its files name them. */
  async function published(): Promise<string[]> {
    await using place = await files({});
    const dir = ['--flux-distribution', place.dir];
    const from = ['--from', release, '--version', 'v2.9.4'];
    expect(await shootFlux(['distribution', 'make', ...dir, ...from])).toMatchObject({ code: 0 });
    return (await shootFlux(['distribution', 'images', ...dir])).out.trim().split('\n');
  }

  /** Checks that the registry inside has the images under the digests by which they were copied, for both platforms. */
  async function expectEqual(): Promise<void> {
    const copies = await lines('copies.txt');
    expect(copies).toHaveLength(7);
    for (const copy of copies) {
      const [source = '', target = ''] = copy.split(' ');
      const digest = await shell(`crane digest ${target}`);
      expect(source.endsWith(`@${digest.trim()}`), copy).toBe(true);
      await expectAllPlatforms(target);
    }
  }

  async function expectAllPlatforms(image: string): Promise<void> {
    expect(JSON.parse(await shell(`crane manifest ${image}`))).toMatchObject({ manifests: [{}, {}] });
    await shell(`crane validate --remote ${image}`);
  }

  /** Runs the command that mirrors. @returns what it says about each image */
  async function mirror(): Promise<string[]> {
    const output = (await page.follow('Copy the images', shell)).trim().split('\n');
    const said = output.filter((line) => line.includes(': '));
    const names = output.filter((line) => !line.includes(': '));
    expect(
      names.map((name) => name.replace(/^registry\.example\.com\/fluxcd\/[\w-]+:v[\d.]+@sha256:\w{64}$/, '')),
    ).toEqual(Array(7).fill(''));
    expect(said.map((line) => line.replace(/: [^:]+$/, ''))).toEqual(names);
    for (const name of names) {
      const [target = '', digest] = name.split('@');
      expect((await shell(`crane digest ${target}`)).trim()).toBe(digest);
      expect(await written('digests.yaml')).toContain(digest);
      await expectAllPlatforms(target);
    }
    return said.map((line) => line.replace(/^.*: /, ''));
  }

  it('pins, copies and configures the images of a release', async () => {
    await publish(await published());
    await page.follow('Pin the images', shell);
    expect(await written('digests.yaml')).toMatch(/newTag: v1\.9\.4, digest: sha256:[0-9a-f]{64} }/);
    expect(await mirror()).toEqual(Array(7).fill('copied'));
    expect(await mirror()).toEqual(Array(7).fill('is there already'));
    await writeFile(join(workplace.folder, 'config.yaml'), page.yaml('Configure the landscape'));
    await writeFile(join(workplace.folder, 'flux-config.yaml'), JSON.stringify(fluxConfig));
    await page.follow('Check it', shell);
    const images = (await lines('objects.yaml')).filter((line) => line.trim().startsWith('image: '));
    expect(images).toHaveLength(4);
    for (const image of images) expect(image).toMatch(/image: registry\.example\.com\/fluxcd\/[\w-]+:v[\d.]+@sha256:/);
  });

  it('copies an image again that is another one in the registry', async () => {
    const target = 'registry.example.com/fluxcd/helm-controller:v1.6.3';
    await shell(`crane append --new_layer layer.tar --new_tag ${target}`);
    expect((await mirror()).toSorted()).toEqual(['copied', ...Array(6).fill('is there already')]);
  });

  it('says which image cannot be copied', async () => {
    await using empty = await startRegistry();
    await reach(inside, empty);
    const command = 'npm run --silent shoot-flux -- distribution mirror --flux-distribution ./distribution';
    await expect(shell(`${command} --to registry.example.com/other`)).rejects.toThrow(
      /cannot copy ghcr\.io\/fluxcd\/helm-controller@sha256:\w+ to registry\.example\.com\/other\/helm-controller:v[\d.]+: .*NAME_UNKNOWN.*; check that/,
    );
    await reach(inside);
  });

  it('finds an image that is missing', async () => {
    await using empty = await startRegistry();
    await reach(empty);
    await expect(page.follow('Check it', shell)).rejects.toThrow(/NAME_UNKNOWN/);
  });

  it('carries the images in a folder where no machine reaches both networks', async () => {
    await using other = await startRegistry();
    await reach(other);
    await page.follow('Copy in a folder', shell);
    await expectEqual();
  });
});
