import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

/** Lists the files below a folder by path with `/`, sorted. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort();
}

/** Writes files by path into a folder. */
export async function writeFiles(folder: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** Name of the file with the checksums of all others, as `sha256sum --check` reads it. */
export const CHECKSUMS = 'SHA256SUMS';

/** Writes the checksums of everything in a folder. */
export async function writeChecksums(folder: string): Promise<void> {
  const lines: string[] = [];
  for (const path of await filesBelow(folder)) {
    if (path === CHECKSUMS) continue;
    const sum = createHash('sha256').update(await readFile(join(folder, path)));
    lines.push(`${sum.digest('hex')}  ${path}\n`);
  }
  await writeFile(join(folder, CHECKSUMS), lines.join(''));
}
