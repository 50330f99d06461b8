const BLOCK = 512;

/** A file in an archive. */
export interface TarFile {
  name: string;
  content: Buffer;
}

/** Yields the regular files of a tar archive. Flux releases use short names and no links, so nothing else is read. */
export function* tarFiles(archive: Buffer): Generator<TarFile> {
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK);
    const name = textAt(header, 0, 100);
    if (name === '') return;
    const size = Number.parseInt(textAt(header, 124, 12).trim() || '0', 8);
    const type = String.fromCharCode(header[156] ?? 0);
    const start = at + BLOCK;
    if (type === '0' || type === '\0') yield { name, content: archive.subarray(start, start + size) };
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
}

function textAt(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString('utf8');
}
