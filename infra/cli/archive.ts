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

const BLOCK = 512;

/** Limits of an archive of a Flux release, which has about ten files with 1 MB together. */
const MAX = { entries: 200, fileMiB: 8 } as const;

/** A file in an archive. */
interface TarFile {
  name: string;
  content: Buffer;
}

/** Entries without content of their own: folders, and the headers that describe what follows (pax). */
const skipped = ['5', 'x', 'g'];

/**
 * Records of a pax header that give another name, size or content than the next header has: other programs would unpack
 * other files than we read, and a person who has looked at those would not know ours.
 */
const REDEFINING = /^\d+ (?:path|size|linkpath|hdrcharset|GNU\.sparse\.[^=]*)=/m;

/**
 * Yields the regular files of a tar archive. Nothing is written here, and a release has neither links nor devices, so
 * an archive that has some is not a release.
 * @throws Error that names the entry
 */
export function* tarFiles(archive: Buffer): Generator<TarFile> {
  let entries = 0;
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK);
    // Other programs read on after a header without a name.
    if (header.every((byte) => byte === 0)) return;
    const name = nameIn(header);
    if (++entries > MAX.entries) throw new Error(`the archive has more than ${MAX.entries} entries`);
    const size = sizeIn(header, name);
    const type = String.fromCharCode(header[156] ?? 0);
    const start = at + BLOCK;
    if (start + size > archive.length) throw new Error(`the archive ends within ${quote(name)}`);
    const content = archive.subarray(start, start + size);
    if (type === '0' || type === '\0') yield { name, content };
    else if (!skipped.includes(type)) throw new Error(`${quote(name)} is neither a file nor a folder`);
    else if (type !== '5' && REDEFINING.test(content.toString('latin1'))) {
      throw new Error(`${quote(name)} gives another name or size to a file of the archive`);
    }
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
}

function nameIn(header: Buffer): string {
  const name = textAt(header, 0, 100);
  if (name === '' || !hasChecksum(header)) throw new Error('a header of the archive is damaged');
  const isOutside = name.startsWith('/') || name.split(/[/\\]/).includes('..');
  if (isOutside) throw new Error(`${quote(name)} leads out of the archive`);
  return name;
}

/** The sum of the header's bytes, where the eight bytes of the sum count as spaces. */
function hasChecksum(header: Buffer): boolean {
  let sum = 8 * 0x20;
  for (const [index, byte] of header.entries()) if (index < 148 || index >= 156) sum += byte;
  return Number.parseInt(textAt(header, 148, 8).trim(), 8) === sum;
}

function sizeIn(header: Buffer, name: string): number {
  const text = textAt(header, 124, 12).trim();
  const size = /^[0-7]*$/.test(text) ? Number.parseInt(text || '0', 8) : Number.POSITIVE_INFINITY;
  if (size > MAX.fileMiB * 1024 * 1024) throw new Error(`${quote(name)} is larger than ${MAX.fileMiB} MiB`);
  return size;
}

function textAt(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString('utf8');
}
