import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { type PublicKey, publicKeyOf } from '../../../shared/ssh/public-key.ts';
import { sshReader, sshString } from '../../../shared/ssh/wire.ts';

/** The public key of a private key, or the problem with the text: a clause that never quotes it. */
export type Identity = { publicKey: PublicKey } | { problem: string };

/** The formats that Flux reads (golang.org/x/crypto/ssh, ParseRawPrivateKey), without DSA, which is no longer safe. */
const PEM = /^-----BEGIN ((?:RSA |EC |OPENSSH |)PRIVATE KEY)-----\s/;

/**
 * Derives the public key of a private key in any format that Flux reads. `ssh2` could replace only the OpenSSH part of
 * this, at 134 KB (decision 23).
 * @param passphrase the Secret's `password`, with which Flux decrypts the key
 */
export function readIdentity(pem: string, passphrase?: string): Identity {
  const format = PEM.exec(pem.trimStart())?.[1];
  if (format === undefined)
    return { problem: 'is not a private key in a format that Flux reads (PKCS#8, PKCS#1, SEC1 or OpenSSH)' };
  if (format === 'OPENSSH PRIVATE KEY') return readOpenSsh(pem, passphrase);
  // Without a passphrase OpenSSL would prompt for one on the terminal.
  if (pem.includes('ENCRYPTED') && !passphrase) return encrypted;
  try {
    const key = createPrivateKey({ key: pem, format: 'pem', ...(passphrase && { passphrase }) });
    return publicKeyOfPrivate(key);
  } catch {
    return pem.includes('ENCRYPTED') ? undecryptable : damaged;
  }
}

const encrypted: Identity = { problem: 'is encrypted, and password does not contain its passphrase' };
const unsupported: Identity = { problem: 'is of a type that Git hosts do not accept; use Ed25519, ECDSA or RSA' };
const damaged: Identity = { problem: 'is damaged' };
const undecryptable: Identity = {
  problem: 'cannot be decrypted: it is damaged, or the key password holds the wrong passphrase',
};

function publicKeyOfPrivate(privateKey: KeyObject): Identity {
  const blob = publicBlob(createPublicKey(privateKey).export({ format: 'jwk' }));
  return blob === undefined ? unsupported : { publicKey: { type: typeOf(blob), blob } };
}

const curves: Record<string, string> = { 'P-256': 'nistp256', 'P-384': 'nistp384', 'P-521': 'nistp521' };

/** Encodes a public key: RFC 4253 section 6.6 (RSA), RFC 5656 section 3.1 (ECDSA), RFC 8709 section 4 (Ed25519). */
function publicBlob({ kty, crv = '', n, e, x, y }: JsonWebKey): Buffer | undefined {
  const bytes = (value: string | undefined) => Buffer.from(value ?? '', 'base64url');
  if (kty === 'RSA') return Buffer.concat([sshString('ssh-rsa'), sshInteger(bytes(e)), sshInteger(bytes(n))]);
  if (kty === 'OKP' && crv === 'Ed25519') return Buffer.concat([sshString('ssh-ed25519'), sshString(bytes(x))]);
  const curve = kty === 'EC' ? curves[crv] : undefined;
  if (curve === undefined) return undefined;
  const point = Buffer.concat([Buffer.from([4]), bytes(x), bytes(y)]);
  return Buffer.concat([sshString(`ecdsa-sha2-${curve}`), sshString(curve), sshString(point)]);
}

/** Encodes a positive `mpint`: no leading zeros, except one where the highest bit would mean a negative number. */
function sshInteger(magnitude: Uint8Array): Buffer {
  const first = magnitude.findIndex((byte) => byte !== 0);
  const bytes = first < 0 ? Buffer.alloc(0) : Buffer.from(magnitude.subarray(first));
  const negative = (bytes[0] ?? 0) >= 0x80;
  return sshString(negative ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

function typeOf(blob: Buffer): string {
  return sshReader(blob).string().toString('latin1');
}

const MAGIC = 'openssh-key-v1\0';

/**
 * Reads the OpenSSH format, which node:crypto does not support. It carries the public key unencrypted (PROTOCOL.key of
 * OpenSSH), so an encrypted key is not decrypted here, and a wrong passphrase is not noticed.
 */
function readOpenSsh(pem: string, passphrase: string | undefined): Identity {
  const base64 = /-----BEGIN [A-Z ]+-----([A-Za-z0-9+/=\s]*)-----END [A-Z ]+-----/.exec(pem)?.[1] ?? '';
  try {
    const reader = sshReader(Buffer.from(base64, 'base64'));
    if (reader.take(MAGIC.length).toString('latin1') !== MAGIC) return damaged;
    const cipher = reader.string().toString('latin1');
    reader.string(); // Key derivation function.
    reader.string(); // Its options.
    if (reader.uint32() !== 1) return damaged;
    const publicKey = publicKeyOf(reader.string());
    const secret = sshReader(reader.string());
    if (publicKey === undefined) return damaged;
    if (cipher !== 'none') return passphrase ? { publicKey } : encrypted;
    // Two equal numbers mean that nothing was cut or mistyped.
    const [first, second] = [secret.uint32(), secret.uint32()];
    return first === second && secret.string().toString('latin1') === publicKey.type ? { publicKey } : damaged;
  } catch {
    return damaged;
  }
}
