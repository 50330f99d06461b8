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
 */
export async function chartArchive(folder: string, version: string): Promise<{ name: string; archive: Buffer }> {
  const { name } = parse(await readFile(join(folder, 'Chart.yaml'), 'utf8')) as { name: string };
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .filter((path) => !IGNORED.test(path))
    .sort();
  const files = await Promise.all(paths.map((path) => readFile(join(folder, path))));
  const blocks = paths.flatMap((path, index) => {
    const content = files[index] ?? Buffer.alloc(0);
    const isChart = path === 'Chart.yaml' || path.endsWith('/Chart.yaml');
    return file(`${name}/${path}`, isChart ? Buffer.from(withVersion(content.toString('utf8'), version)) : content);
  });
  return { name, archive: gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 }) };
}

function withVersion(chart: string, version: string): string {
  return chart.replaceAll(/^(\s*(?:version|appVersion): ).*$/gm, `$1${version}`);
}

/** Returns the header and the content of a regular file in the format ustar. */
function file(path: string, content: Buffer): Buffer[] {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at);
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is longer than the 100 bytes of a name in an archive.`);
  header.write(path, 0);
  octal(0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(content.length, 124, 12);
  octal(0, 136, 12);
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\0' + '00', 257, 'latin1');
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return [header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
}
