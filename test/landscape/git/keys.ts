import { createHash, createPrivateKey, generateKeyPairSync } from 'node:crypto';
import ssh2 from 'ssh2';

/** A public key as SSH sends it (RFC 4253, section 6.6). */
export interface PublicKey {
  /** For example `ssh-ed25519`. */
  type: string;
  blob: Buffer;
}

/** Returns the key in a blob, which begins with the key's type. */
export function publicKeyOf(blob: Buffer): PublicKey {
  return { type: blob.toString('latin1', 4, 4 + blob.readUInt32BE(0)), blob };
}

/**
 * Returns the key of a line `type base64 [comment]`, as in `identity.pub`.
 * @throws Error when the line has no key
 */
export function parsePublicLine(line: string): PublicKey {
  const parsed = ssh2.utils.parseKey(line);
  if (parsed instanceof Error) throw new Error(`A deploy key is a line with type and key, as in identity.pub.`);
  return publicKeyOf(parsed.getPublicSSH());
}

/** Returns `type base64`. */
export function publicLine({ type, blob }: PublicKey): string {
  return `${type} ${blob.toString('base64')}`;
}

/** Returns `SHA256:…`, as ssh-keygen shows it. */
export function fingerprint({ blob }: PublicKey): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

export interface KeyPair {
  /** PKCS#8 PEM. */
  privateKey: string;
  publicKey: PublicKey;
}

/** Generates a pair with node:crypto: about one of 400 Ed25519 keys that ssh2 1.17 generates is malformed. */
export function generateKeyPair(type: 'ed25519' | 'rsa' = 'ed25519'): KeyPair {
  const pair = type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519');
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const parsed = ssh2.utils.parseKey(openSshKey(privateKey));
  if (parsed instanceof Error) throw parsed;
  return { privateKey, publicKey: publicKeyOf(parsed.getPublicSSH()) };
}

/** Returns a private key in a form that ssh2 and OpenSSH read: they do not read PKCS#8 for every type, Flux does. */
export function openSshKey(pem: string): string {
  if (pem.includes('OPENSSH')) return pem;
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType === 'rsa') return key.export({ type: 'pkcs1', format: 'pem' }).toString();
  if (key.asymmetricKeyType !== 'ed25519') return pem;
  const { d = '', x = '' } = key.export({ format: 'jwk' });
  return ed25519Key(Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url'));
}

/** OpenSSH's own form (PROTOCOL.key), not encrypted. */
function ed25519Key(secret: Buffer, open: Buffer): string {
  const field = (content: Buffer | string) => {
    const bytes = Buffer.from(content as string);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const publicBlob = Buffer.concat([field('ssh-ed25519'), field(open)]);
  const check = Buffer.alloc(8, 1);
  const content = Buffer.concat([check, publicBlob, field(Buffer.concat([secret, open])), field('')]);
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (content.length % 8)) % 8));
  const cipherAndDerivation = [field('none'), field('none'), field('')];
  const one = Buffer.from([0, 0, 0, 1]);
  const blob = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...cipherAndDerivation,
    one,
    field(publicBlob),
    field(Buffer.concat([content, padding])),
  ]);
  const base64 = blob.toString('base64').replace(/.{70}/g, '$&\n');
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${base64}\n-----END OPENSSH PRIVATE KEY-----\n`;
}
