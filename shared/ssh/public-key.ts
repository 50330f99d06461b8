import { hash } from 'node:crypto';

/** A public key as SSH transmits it (RFC 4253, section 6.6). */
export interface PublicKey {
  /** For example `ssh-ed25519`. */
  type: string;
  /** Type and numbers, each with its length. */
  blob: Buffer;
}

/** An RSA key of 16,384 bits takes 2.8 KB; certificates of hosts take a little more. */
const MAX_LINE = 16 * 1024;

/** Also matches the types of hardware keys and certificates. */
const TYPE = /^[a-z0-9@.-]+$/;

/** Returns the key in a blob, or undefined when the bytes are not a key. */
export function publicKeyOf(blob: Buffer): PublicKey | undefined {
  try {
    const reader = sshReader(blob);
    const type = reader.string().toString('latin1');
    return TYPE.test(type) && reader.rest().length > 0 ? { type, blob } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the key of a line `type base64 [comment]` as in `id_ed25519.pub`, or undefined when it is not a key or too
 * long for one.
 */
export function parsePublicLine(line: string): PublicKey | undefined {
  if (line.length > MAX_LINE) return undefined;
  const [type, base64] = line.trim().split(/\s+/, 2);
  const key = publicKeyOf(Buffer.from(base64 ?? '', 'base64'));
  return key?.type === type ? key : undefined;
}

/** Returns `type base64 comment`, without a newline. */
export function publicLine(key: PublicKey, comment?: string): string {
  const line = `${key.type} ${key.blob.toString('base64')}`;
  return comment === undefined ? line : `${line} ${comment}`;
}

/** Returns `SHA256:…` as ssh-keygen and Git hosts show it. */
export function fingerprint(key: PublicKey): string {
  return `SHA256:${hash('sha256', key.blob, 'base64').replace(/=+$/, '')}`;
}

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
