import { hash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Lists the files below a folder by path with `/`, sorted. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort();
}

/** Name of the file with the checksums of all others, as `sha256sum --check` reads it. */
export const CHECKSUMS = 'SHA256SUMS';

/** Writes the checksums of all files of a release. */
export async function writeChecksums(folder: string): Promise<void> {
  const lines: string[] = [];
  for (const path of await filesBelow(folder)) {
    // Its signature, too, is made from it.
    if (path.startsWith(CHECKSUMS)) continue;
    lines.push(`${hash('sha256', await readFile(join(folder, path)))}  ${path}\n`);
  }
  await writeFile(join(folder, CHECKSUMS), lines.join(''));
}
