/** An entry of an archive for tests: by default a regular file. */
export interface Entry {
  name: string;
  content?: Uint8Array | string;
  /** `0` file, `1` and `2` links, `3` and `4` devices, `5` folder. */
  type?: string;
  /** Another size than that of the content, as octal digits. */
  size?: string;
}

/** Writes a tar archive as releases are packed. */
export function tarOf(entries: Entry[]): Buffer {
  const blocks = entries.flatMap(({ name, content = '', type = '0', size }) => {
    const bytes = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(`${size ?? bytes.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write(' '.repeat(8), 148);
    header.write(type, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
