/** Encodes a `string` of the SSH protocol (RFC 4251, section 5): its length in four bytes, then the bytes. */
export function sshString(value: string | Uint8Array): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'latin1') : value;
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Reads fields one after the other, and throws a RangeError when the bytes end early. */
export function sshReader(bytes: Buffer) {
  let position = 0;
  const take = (length: number): Buffer => {
    if (position + length > bytes.length) throw new RangeError('the data ends early');
    position += length;
    return bytes.subarray(position - length, position);
  };
  const uint32 = () => take(4).readUInt32BE();
  return {
    take,
    uint32,
    string: () => take(uint32()),
    rest: () => bytes.subarray(position),
  };
}
