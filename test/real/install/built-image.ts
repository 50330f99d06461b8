import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bom } from '../../../infra/image/sbom.ts';
import { documents } from '../../integration/documents.ts';
import type { FollowedPage } from '../../integration/followed-page.ts';
import { makeBuildPlace } from './build-place.ts';
import { type PulledImage, type Registry, startRegistry } from './registry.ts';
import type { Workplace } from './workplace.ts';

const NAME = 'shoot-flux:0.1.0';

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
 * @param follow runs the commands below a heading of the page
 */
export async function builtImage(distribution?: string, follow: FollowedPage['follow'] = read): Promise<BuiltImage> {
  const registry = await startRegistry();
  let workplace: Workplace | undefined;
  const dispose = async () => {
    await registry[Symbol.asyncDispose]();
    await workplace?.remove();
  };
  try {
    workplace = await makeBuildPlace(registry);
    const { folder, run } = workplace;
    if (distribution !== undefined) await cp(distribution, join(folder, 'distribution'), { recursive: true });
    const option = ' --distribution ./distribution';
    const shell = (text: string) => run(distribution === undefined ? text.replaceAll(option, '') : text);
    await follow('Build it', shell);
    await follow('Bill of materials', shell);
    return { ...(await pulled(registry, folder)), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function pulled(registry: Registry, folder: string): Promise<Omit<BuiltImage, typeof Symbol.asyncDispose>> {
  const image = `${registry.host}/${NAME}`;
  await registry.unpack(image, join(folder, 'root'));
  const index = JSON.parse(await readFile(join(folder, 'image/index.json'), 'utf8'));
  return {
    ...(await registry.inspect(image)),
    root: join(folder, 'root'),
    digestInLayout: index.manifests[0].digest,
    bom: JSON.parse(await readFile(join(folder, 'sbom.json'), 'utf8')),
  };
}

/** For benches, which follow no page. */
const read: FollowedPage['follow'] = async (section, shell) => {
  const { fences = [] } = documents.find(({ path }) => path === 'docs/image.md') ?? {};
  const blocks = fences.filter((fence) => fence.section === section && fence.language === 'sh');
  let output = '';
  for (const { text } of blocks) output += await shell(text);
  return output;
};
