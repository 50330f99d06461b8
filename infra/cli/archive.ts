import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { quote } from '../../shared/config/quote.ts';
import type { ReleaseFile } from '../../shared/flux/release-files.ts';
import { tarFiles } from './tar.ts';

/** manifests.tar.gz of a release has 60 KB, and 1 MB unpacked. */
const MAX_MIB = { packed: 16, unpacked: 64 } as const;

/** Reads an archive. @throws Error when it is too large */
export async function readArchive(path: string): Promise<Buffer> {
  const { size } = await stat(path);
  if (size > MAX_MIB.packed * 1024 * 1024) throw new Error(`the archive is larger than ${MAX_MIB.packed} MiB`);
  return readFile(path);
}

/**
 * Unpacks the YAML files of an archive in memory, sorted by name. Inflating ends at a limit, so a small archive cannot
 * fill the memory.
 * @throws Error that says what is wrong with the archive
 */
export function unpack(archive: Buffer): ReleaseFile[] {
  const files = [...tarFiles(inflate(archive))]
    .map(({ name, content }) => ({ name: basename(name), text: content.toString('utf8') }))
    .filter(({ name }) => name.endsWith('.yaml'))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const twice = files.find(({ name }, index) => files[index + 1]?.name === name);
  if (twice !== undefined) throw new Error(`the archive has ${quote(twice.name)} twice`);
  return files;
}

function inflate(archive: Buffer): Buffer {
  try {
    return gunzipSync(archive, { maxOutputLength: MAX_MIB.unpacked * 1024 * 1024 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw error;
    throw new Error(`the archive unpacks to more than ${MAX_MIB.unpacked} MiB`);
  }
}
