import { type Zippable, zipSync } from 'fflate';

/** A file in a package. */
export interface ZipFile {
  path: string;
  content: Buffer;
}

const common = {
  // The first moment that the format knows, which has no time zone.
  mtime: new Date(1980, 0, 1),
  // A regular file that everyone may read, as Unix writes it.
  os: 3,
  attrs: (0o100644 << 16) >>> 0,
} as const;

/** Packs files as a zip archive without times or owners: the same files give the same bytes. */
export function zip(files: readonly ZipFile[]): Buffer {
  const sorted = files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const entries = sorted.map(({ path, content }): [string, Zippable[string]] => [path, [content, common]]);
  return Buffer.from(zipSync(Object.fromEntries(entries), { level: 9 }));
}
