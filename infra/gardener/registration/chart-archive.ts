import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { parse } from 'yaml';
import { filesBelow } from '../../release/checksums.ts';

/** Files that Helm does not pack either. */
const IGNORED = /(^|\/)(\.git|\.gitignore|\.helmignore|[^/]+\.tgz)$/;

/**
 * Packs a chart as `helm package` does, but reproducibly: the same files give the same bytes, because they are sorted and
 * have no time, owner or mode of their own.
 * @param version replaces the versions in every Chart.yaml, and those of dependencies
 * @param registry replaces the registry of the image in every values.yaml, and names the image for Artifact Hub; absent:
 *   it stays
 */
export async function chartArchive(
  folder: string,
  version: string,
  registry?: string,
): Promise<{ name: string; archive: Buffer }> {
  const { name } = parse(await readFile(join(folder, 'Chart.yaml'), 'utf8')) as { name: string };
  const paths = (await filesBelow(folder)).filter((path) => !IGNORED.test(path));
  const values = await readFile(join(folder, 'values.yaml'), 'utf8');
  const image =
    registry !== undefined && values.search(OWN_IMAGE) >= 0 ? `${registry}/shoot-flux:${version}` : undefined;
  const files: Record<string, Buffer> = {};
  for (const path of paths) {
    const content = await readFile(join(folder, path));
    const isValues = registry !== undefined && /(^|\/)values\.yaml$/.test(path);
    const edit = /(^|\/)Chart\.yaml$/.test(path)
      ? withRelease(version, image)
      : isValues
        ? withRegistry(registry)
        : undefined;
    files[`${name}/${path}`] = edit ? Buffer.from(edit(content.toString('utf8'))) : content;
  }
  return { name, archive: await tarball(files) };
}

/** Packs files by path, which everyone may read: the same files give the same bytes, because they have no time or owner. */
export async function tarball(files: Readonly<Record<string, Buffer>>, mode = 0o644): Promise<Buffer> {
  const entries = Object.entries(files).map(([name, body]) => ({
    header: { name, size: body.length, mode, mtime: new Date(0) },
    body,
  }));
  return gzipSync(await packTar(entries), { level: 9 });
}

/** Where values name the image. */
const OWN_IMAGE = /^(\s*repository: )\S+\/shoot-flux$/gm;

const withRelease = (version: string, image?: string) => (chart: string) => {
  const versioned = chart.replaceAll(/^(\s*(?:version|appVersion): ).*$/gm, `$1${version}`);
  if (image === undefined) return versioned;
  const images = `  artifacthub.io/images: |\n    - name: shoot-flux\n      image: ${image}\n`;
  return versioned.replace(/^annotations:\n/m, `$&${images}`);
};

const withRegistry = (registry: string) => (values: string) => values.replaceAll(OWN_IMAGE, `$1${registry}/shoot-flux`);
