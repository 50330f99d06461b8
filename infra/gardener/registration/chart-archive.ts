import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parse } from 'yaml';

const BLOCK = 512;

/** Files that Helm does not pack either. */
const IGNORED = /(^|\/)(\.git|\.gitignore|\.helmignore|[^/]+\.tgz)$/;

/**
 * Packs a chart as `helm package` does, but reproducibly: the same files give the same bytes, because they are sorted and
 * have no time, owner or mode of their own.
 * @param version replaces the versions in every Chart.yaml, and those of dependencies
 * @param registry replaces the registry of the image in every values.yaml; absent: it stays
 */
export async function chartArchive(
  folder: string,
  version: string,
  registry?: string,
): Promise<{ name: string; archive: Buffer }> {
  const { name } = parse(await readFile(join(folder, 'Chart.yaml'), 'utf8')) as { name: string };
  const paths = (await filesBelow(folder)).filter((path) => !IGNORED.test(path));
  const files = await Promise.all(paths.map((path) => readFile(join(folder, path))));
  const blocks = paths.flatMap((path, index) => {
    const content = files[index] ?? Buffer.alloc(0);
    if (/(^|\/)Chart\.yaml$/.test(path)) return file(`${name}/${path}`, edited(content, withVersion(version)));
    if (registry !== undefined && /(^|\/)values\.yaml$/.test(path))
      return file(`${name}/${path}`, edited(content, withRegistry(registry)));
    return file(`${name}/${path}`, content);
  });
  return { name, archive: packed(blocks) };
}

const packed = (blocks: Buffer[]) => gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 });

/** Packs files by path, which everyone may read and execute: the same files give the same bytes. */
export function programArchive(files: Readonly<Record<string, Buffer | string>>): Buffer {
  return packed(Object.entries(files).flatMap(([path, content]) => file(path, Buffer.from(content), 0o755)));
}

/** Lists the files below a folder by path with `/`, sorted. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort();
}

const edited = (content: Buffer, edit: (text: string) => string) => Buffer.from(edit(content.toString('utf8')));

const withVersion = (version: string) => (chart: string) =>
  chart.replaceAll(/^(\s*(?:version|appVersion): ).*$/gm, `$1${version}`);

const withRegistry = (registry: string) => (values: string) =>
  values.replaceAll(/^(\s*repository: )\S+\/shoot-flux$/gm, `$1${registry}/shoot-flux`);

/** Returns the header and the content of a regular file in the format ustar. */
function file(path: string, content: Buffer, mode = 0o644): Buffer[] {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at);
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is longer than the 100 bytes of a name in an archive.`);
  header.write(path, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(content.length, 124, 12);
  octal(0, 136, 12);
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\0' + '00', 257, 'latin1');
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  octal(checksum, 148, 7);
  return [header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
}
