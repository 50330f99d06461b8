import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { type PublicKey, publicKeyOf } from '../../../shared/ssh/public-key.ts';
import { sshInteger, sshReader, sshString } from '../../../shared/ssh/wire.ts';

/** The public half of a private key, or what is wrong with the text: a clause that never quotes it. */
export type Identity = { publicKey: PublicKey } | { problem: string };

/** The forms that Flux reads (golang.org/x/crypto/ssh, ParseRawPrivateKey); DSA is not among the safe ones. */
const PEM = /^-----BEGIN ((?:RSA |EC |OPENSSH |)PRIVATE KEY)-----\s/;

/**
 * Reads a private key as Flux would.
 * @param passphrase the Secret's `password`, with which Flux opens an encrypted key
 */
export function readIdentity(pem: string, passphrase?: string): Identity {
  const form = PEM.exec(pem.trimStart())?.[1];
  if (form === undefined)
    return { problem: 'is not a private key in a form that Flux reads (PKCS#8, PKCS#1, SEC1 or OpenSSH)' };
  if (form === 'OPENSSH PRIVATE KEY') return readOpenSsh(pem, passphrase);
  // Flux leaves out the passphrase for these, and OpenSSL would ask the terminal for a missing one.
  if (pem.includes('ENCRYPTED') && !passphrase) return encrypted;
  try {
    const key = createPrivateKey({ key: pem, format: 'pem', ...(passphrase && { passphrase }) });
    return publicHalf(key);
  } catch {
    return { problem: 'is damaged, or encrypted with another passphrase than the one in password' };
  }
}

const encrypted: Identity = { problem: 'is encrypted, and its passphrase is not in password' };
const unsupported: Identity = { problem: 'is of a type that Git hosts do not take; use Ed25519, ECDSA or RSA' };
const damaged: Identity = { problem: 'is damaged' };

function publicHalf(privateKey: KeyObject): Identity {
  const blob = publicBlob(createPublicKey(privateKey).export({ format: 'jwk' }));
  return blob === undefined ? unsupported : { publicKey: { type: typeOf(blob), blob } };
}

const curves: Record<string, string> = { 'P-256': 'nistp256', 'P-384': 'nistp384', 'P-521': 'nistp521' };

/** RFC 4253 section 6.6 (RSA), RFC 5656 section 3.1 (ECDSA), RFC 8709 section 4 (Ed25519). */
function publicBlob({ kty, crv = '', n, e, x, y }: JsonWebKey): Buffer | undefined {
  const bytes = (value: string | undefined) => Buffer.from(value ?? '', 'base64url');
  if (kty === 'RSA') return Buffer.concat([sshString('ssh-rsa'), sshInteger(bytes(e)), sshInteger(bytes(n))]);
  if (kty === 'OKP' && crv === 'Ed25519') return Buffer.concat([sshString('ssh-ed25519'), sshString(bytes(x))]);
  const curve = kty === 'EC' ? curves[crv] : undefined;
  if (curve === undefined) return undefined;
  const point = Buffer.concat([Buffer.from([4]), bytes(x), bytes(y)]);
  return Buffer.concat([sshString(`ecdsa-sha2-${curve}`), sshString(curve), sshString(point)]);
}

function typeOf(blob: Buffer): string {
  return sshReader(blob).string().toString('latin1');
}

const MAGIC = 'openssh-key-v1\0';

/** OpenSSH's own form carries the public key in the clear (PROTOCOL.key of OpenSSH); node:crypto does not read it. */
function readOpenSsh(pem: string, passphrase: string | undefined): Identity {
  const base64 = /-----BEGIN [A-Z ]+-----([A-Za-z0-9+/=\s]*)-----END [A-Z ]+-----/.exec(pem)?.[1] ?? '';
  try {
    const reader = sshReader(Buffer.from(base64, 'base64'));
    if (reader.take(MAGIC.length).toString('latin1') !== MAGIC) return damaged;
    const cipher = reader.string().toString('latin1');
    reader.string(); // key derivation
    reader.string(); // its options
    if (reader.uint32() !== 1) return damaged;
    const publicKey = publicKeyOf(reader.string());
    const secret = sshReader(reader.string());
    if (publicKey === undefined) return damaged;
    if (cipher !== 'none') return passphrase ? { publicKey } : encrypted;
    // Two equal numbers tell that nothing was cut or mistyped.
    const [first, second] = [secret.uint32(), secret.uint32()];
    return first === second && secret.string().toString('latin1') === publicKey.type ? { publicKey } : damaged;
  } catch {
    return damaged;
  }
}
