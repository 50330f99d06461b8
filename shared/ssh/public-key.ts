import { hash } from 'node:crypto';
import { sshReader } from './wire.ts';

/** A public key as SSH sends it (RFC 4253, section 6.6). */
export interface PublicKey {
  /** For example `ssh-ed25519`. */
  type: string;
  /** Type and numbers, each with its length. */
  blob: Buffer;
}

/** What a type may look like: also those of hardware keys and certificates. */
const TYPE = /^[a-z0-9@.-]+$/;

/** The key in a blob, or undefined when the bytes are none. */
export function publicKeyOf(blob: Buffer): PublicKey | undefined {
  try {
    const reader = sshReader(blob);
    const type = reader.string().toString('latin1');
    return TYPE.test(type) && reader.rest().length > 0 ? { type, blob } : undefined;
  } catch {
    return undefined;
  }
}

/** The key of a line `type base64 [comment]` as in `id_ed25519.pub`, or undefined when it is none. */
export function parsePublicLine(line: string): PublicKey | undefined {
  const [type, base64] = line.trim().split(/\s+/);
  const key = publicKeyOf(Buffer.from(base64 ?? '', 'base64'));
  return key?.type === type ? key : undefined;
}

/** `type base64 comment`, without a newline. */
export function publicLine(key: PublicKey, comment?: string): string {
  const line = `${key.type} ${key.blob.toString('base64')}`;
  return comment === undefined ? line : `${line} ${comment}`;
}

/** `SHA256:…` as ssh-keygen and the hosting sites show it. */
export function fingerprint(key: PublicKey): string {
  return `SHA256:${hash('sha256', key.blob, 'base64').replace(/=+$/, '')}`;
}
