import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { followPage } from '../../integration/followed-page.ts';
import { testDistribution } from '../../made-distribution.ts';
import { SEED, startStage } from '../../scenarios/stage.ts';
import { operator, type RealApis, startRealApis } from '../apis.ts';
import { seedCrds } from '../cluster/crds.ts';
import { waitUntilReady } from '../cluster/ready.ts';
import { type BuiltImage, builtImage } from './built-image.ts';
import { startContainer } from './container.ts';
import { liveOneLife } from './life.ts';

const distribution = await testDistribution();
const isComplete = distribution !== undefined && seedCrds() !== undefined;

test.skipIf(isComplete)(testDataMissing, () => {});

/** Built by the commands of docs/image.md. */
describe.skipIf(!isComplete)('the container image', () => {
  const page = followPage('docs/image.md');
  let image: BuiltImage;

  beforeAll(async () => {
    image = await builtImage(distribution ?? '', page.follow);
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

  it('contains a bundle and the distribution, and no sources', async () => {
    const files = await readdir(join(image.root, 'app'), { recursive: true });
    expect(files.filter((file) => /\.ts$|node_modules/.test(file))).toEqual([]);
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
    expect(components.find(({ name }) => name === 'libc6')?.purl).toMatch(
      /^pkg:deb\/debian\/libc6@.*&distro=debian-12$/,
    );
  });

  it('is the same when it is built again', () => {
    expect(image.digestInLayout).toBe(image.digest);
  });

  describe('on real API servers', () => {
    let apis: RealApis;

    beforeAll(async () => {
      apis = await startRealApis();
    });
    afterAll(async () => {
      await apis?.stop();
    });

    it('leads a Shoot through its life, on a read-only root and as any user, killed twice', async () => {
      await using stage = await startStage({ ...apis, stop: apis.forget }, '');
      const { garden, seed } = apis.servers;
      const mounts = {
        '/mnt/garden': await garden.kubeconfigFile(operator.token),
        '/mnt/seed': await seed.kubeconfigFile(operator.token),
      };
      const clusters = ['--garden', '/mnt/garden', '--seed', `${SEED}=/mnt/seed`];
      const args = ['run', ...clusters, '--flux-distribution', '/flux-distribution', '--port', '0'];
      const start = () => startContainer({ ...image, args, mounts });
      let program = await start();
      try {
        const steps = await liveOneLife(stage, {
          async disturb(step) {
            if (step !== 'config change' && step !== 'remove') return;
            await program.stop();
            program = await start();
          },
        });
        expect(steps).toContain('remove');
      } catch (error) {
        throw new Error(`${error instanceof Error ? error.message : error}\n${await program.output()}`, {
          cause: error,
        });
      } finally {
        await program.stop();
      }
    });
  });
});
