import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { quote } from '../../shared/config/quote.ts';
import type { ReleaseFile } from '../../shared/flux/release-files.ts';

/** manifests.tar.gz of a release has 60 KB, and 1 MB unpacked. */
const MAX_MIB = { packed: 16, unpacked: 64 } as const;

/** Reads an archive. @throws Error when it is too large */
export async function readArchive(path: string): Promise<Buffer> {
  const { size } = await stat(path);
  if (size > MAX_MIB.packed * 1024 * 1024) throw new Error(`the archive is larger than ${MAX_MIB.packed} MiB`);
  return readFile(path);
}

/** Unpacks the YAML files of an archive in memory, sorted by name. @throws Error that says what is wrong with it */
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

const BLOCK = 512;

interface TarFile {
  name: string;
  content: Buffer;
}

/** Entries without content of their own: folders, and the headers that describe what follows (pax). */
const skipped = ['5', 'x', 'g'];

/** Yields the regular files of a tar archive. A release has neither links nor devices. @throws Error with the entry */
export function* tarFiles(archive: Buffer): Generator<TarFile> {
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return;
    if (!hasChecksum(header)) throw new Error('a header of the archive is damaged');
    const name = textAt(header, 0, 100);
    const size = Number.parseInt(textAt(header, 124, 12) || '0', 8);
    const type = String.fromCharCode(header[156] ?? 0);
    const start = at + BLOCK;
    if (!(size >= 0 && start + size <= archive.length)) throw new Error(`the archive ends within ${quote(name)}`);
    if (type === '0' || type === '\0') yield { name, content: archive.subarray(start, start + size) };
    else if (!skipped.includes(type)) throw new Error(`${quote(name)} is neither a file nor a folder`);
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
}

/** The sum of the header's bytes, where the eight bytes of the sum count as spaces. */
function hasChecksum(header: Buffer): boolean {
  const own = header.subarray(148, 156).reduce((sum, byte) => sum + byte, 0);
  const all = header.reduce((sum, byte) => sum + byte, 0);
  return Number.parseInt(textAt(header, 148, 8), 8) === all - own + 8 * 0x20;
}

function textAt(header: Buffer, start: number, length: number): string {
  return (
    header
      .toString('utf8', start, start + length)
      .split('\0', 1)[0]
      ?.trim() ?? ''
  );
}
