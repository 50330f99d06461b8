import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Bom } from '../../../infra/image/sbom.ts';
import { commands, expanded } from '../../integration/documents.ts';
import { installDebian } from '../tools/debian.ts';
import { buildBases, makeStore } from './bases.ts';
import { type PulledImage, startRegistry } from './registry.ts';

const run = promisify(execFile);
const main = join(import.meta.dirname, '../../../infra/image/main.ts');

/** An image that went through a registry. */
export interface BuiltImage extends AsyncDisposable, PulledImage {
  /** Its files, as pulled from the registry. */
  root: string;
  /** Its digest in the folder that a second build has written. */
  digestInLayout: string;
  bom: Bom;
}

/**
 * Builds the image by the commands of docs/image.md, with buildah on bases from Debian, in a registry on this machine.
 * Unpacks what the registry returns.
 * @param distribution becomes part of the image; absent: an image without one
 */
export async function builtImage(distribution?: string): Promise<BuiltImage> {
  await installDebian(['buildah']);
  const folder = await mkdtemp(join(tmpdir(), 'image-'));
  const registry = await startRegistry();
  const dispose = async () => {
    await registry[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const store = await makeStore(join(folder, 'store'));
    await buildBases(store, folder);
    const places = {
      'registry.example.org': registry.host,
      './distribution': distribution ?? '',
      './image': join(folder, 'layout'),
      'sbom.json': join(folder, 'sbom.json'),
    };
    for (const command of documented(places)) {
      const bases = ['--base-image', 'localhost/base:test', '--node-image', 'localhost/node:test'];
      const baked = command.filter((_, index) => distribution !== undefined || !isDistribution(command, index));
      const args = [main, ...baked, ...bases, '--insecure-registry'];
      await run(process.execPath, args, { env: { ...process.env, ...store.env } });
    }
    const image = `${registry.host}/shoot-flux:v0.1.0`;
    await registry.unpack(image, join(folder, 'root'));
    const index = JSON.parse(await readFile(join(folder, 'layout/index.json'), 'utf8'));
    return {
      ...(await registry.inspect(image)),
      root: join(folder, 'root'),
      digestInLayout: index.manifests[0].digest,
      bom: JSON.parse(await readFile(join(folder, 'sbom.json'), 'utf8')),
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Returns whether an argument is the option for a distribution, or its value. */
const isDistribution = (args: string[], index: number) =>
  args[index] === '--distribution' || args[index - 1] === '--distribution';

/** The arguments of the page's commands, with other places. */
function documented(places: Record<string, string>): string[][] {
  const lines = commands.filter(
    ({ path, command }) => path === 'docs/image.md' && command.startsWith('npm run image '),
  );
  return lines.map(({ command }) => {
    const [, , ...args] = expanded(command).split(/ +/);
    return args.map((arg) => {
      const place = Object.keys(places).find((name) => arg.startsWith(name));
      return place === undefined ? arg : arg.replace(place, places[place] ?? '');
    });
  });
}
