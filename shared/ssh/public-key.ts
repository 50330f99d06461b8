import { hash } from 'node:crypto';
import { sshReader } from './wire.ts';

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
