import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { followPage } from '../../integration/followed-page.ts';
import { waitUntilReady } from '../cluster/start.ts';
import { withTestData } from '../on-real-apis.ts';
import { type BuiltImage, builtImage } from './built-image.ts';
import { startContainer } from './container.ts';

/** Built by the commands of docs/image.md. */
withTestData('the container image', (distribution) => {
  const page = followPage('docs/image.md');
  let image: BuiltImage;

  beforeAll(async () => {
    image = await builtImage(distribution, page.follow);
  });
  afterAll(async () => {
    await image?.[Symbol.asyncDispose]();
  });

  /** Runs a command that ends, and returns what it prints. */
  const run = async (args: string[], env = {}) => {
    const program = await startContainer({ ...image, args, env });
    try {
      await waitUntilReady('container', program, async () => program.ended).catch(() => {});
      return await program.output();
    } finally {
      await program.stop();
    }
  };

  it('is at most 70 MB, compressed', () => {
    expect(image.bytes).toBeLessThan(70_000_000);
  });

  it('starts every command by its entrypoint, without privileges and without a shell', async () => {
    expect(image.config).toMatchObject({
      User: '65532:65532',
      Entrypoint: ['/usr/local/bin/node', '/app/shoot-flux.mjs'],
      ExposedPorts: { '8080/tcp': {}, '8443/tcp': {} },
    });
    expect(image.config.Env).toContain('MALLOC_ARENA_MAX=1');
    expect(['bin/sh', 'usr/bin/sh', 'bin/bash'].filter((path) => existsSync(join(image.root, path)))).toEqual([]);
    const overview = await run(['--help']);
    const commands = [...overview.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name = '']) => name);
    expect(commands).toEqual(expect.arrayContaining(['run', 'webhooks', 'render']));
    for (const command of commands) expect(await run([command, '--help'])).toContain('Show this help.');
  });

  it('contains a bundle and the distribution, and neither sources nor native code of a package', async () => {
    const files = await readdir(join(image.root, 'app'), { recursive: true });
    expect(files.filter((file) => /\.(ts|node)$|node_modules/.test(file))).toEqual([]);
    expect(files).toContain('LICENSES.txt');
    expect(await run(['distribution', 'inspect', '--flux-distribution', '/flux-distribution'])).toMatch(/v2\.\d+\.\d+/);
  });

  it('has a bill of materials with the bundle, Node.js, and the packages of the base', () => {
    const { components, metadata, bomFormat } = image.bom;
    const versionOf = (name: string) => components.find((part) => part.name === name)?.version;
    expect({ bomFormat, name: metadata.component.name }).toEqual({ bomFormat: 'CycloneDX', name: 'shoot-flux' });
    expect(`v${versionOf('node')}`).toBe(process.version);
    expect(
      ['libc6', 'libstdc++6', 'ca-certificates', 'yaml', 'zod', '@aws-sdk/client-sqs'].filter(
        (name) => !versionOf(name),
      ),
    ).toEqual([]);
    expect(components.filter(({ name }) => ['vitest', 'esbuild', 'typescript'].includes(name))).toEqual([]);
    expect(components.filter(({ name }) => name === 'libc6').map(({ purl }) => purl)).toEqual([
      expect.stringMatching(/^pkg:deb\/debian\/libc6@.*\?arch=amd64&distro=debian-12$/),
      expect.stringMatching(/^pkg:deb\/debian\/libc6@.*\?arch=arm64&distro=debian-12$/),
    ]);
  });

  it('is the same when it is built again', () => {
    expect(image.digestInLayout).toBe(image.digest);
  });
});
