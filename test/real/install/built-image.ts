import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Bom } from '../../../infra/image/sbom.ts';
import { installDebian } from '../tools/debian.ts';
import { buildBases, makeStore } from './bases.ts';
import { type PulledImage, startRegistry } from './registry.ts';

const run = promisify(execFile);
const main = join(import.meta.dirname, '../../../infra/image/main.ts');

/** An image that went through a registry. */
export interface BuiltImage extends AsyncDisposable, PulledImage {
  /** Its files, as pulled from the registry. */
  root: string;
  bom: Bom;
  /** Builds it again, and returns its digest. */
  again(): Promise<string>;
}

/**
 * Builds the image as the documentation says, with buildah on bases from Debian, pushes it to a registry, and unpacks
 * what the registry returns.
 * @param distribution becomes part of the image
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
    const sbom = join(folder, 'sbom.json');
    const make = async (version: string) => {
      const image = `${registry.host}/shoot-flux:${version}`;
      const bases = ['--base-image', 'localhost/base:test', '--node-image', 'localhost/node:test'];
      const baked = distribution === undefined ? [] : ['--distribution', distribution];
      const push = ['--push', '--insecure-registry', '--sbom', sbom];
      const args = [main, '--builder', 'buildah', '--tag', image, ...bases, ...baked, ...push];
      await run(process.execPath, args, { env: { ...process.env, ...store.env } });
      return { image, ...(await registry.inspect(image)) };
    };
    const made = await make('v1');
    await registry.unpack(made.image, join(folder, 'root'));
    return {
      ...made,
      root: join(folder, 'root'),
      bom: JSON.parse(await readFile(sbom, 'utf8')),
      again: async () => (await make('v2')).digest,
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}
