import { createDecipheriv, createHash } from 'node:crypto';
import { type PublicKey, publicKeyOf } from '../../../shared/ssh/public-key.ts';
import { readOpenSshKey } from './openssh-key.ts';
import { derivePublicKey, unsupported } from './private-key.ts';

/** The public key of a private key, or the problem with the text: a clause that never quotes it. */
export type Identity = { publicKey: PublicKey } | { problem: string };

/** The formats that Flux reads (golang.org/x/crypto/ssh, ParseRawPrivateKey), without DSA, which is no longer safe. */
const PEM = /^-----BEGIN ((?:RSA |EC |OPENSSH |DSA |)PRIVATE KEY)-----\s/;

/** Flux finds a key only between a first and a last line that stand at the start of lines of their own. */
const HAS_LINES = /^(?:\s*\n)?-----BEGIN [^\n]*\n[\s\S]*?\n-----END [A-Z ]*-----[ \t\r]*(?:\n|$)/;

/**
 * Derives the public key of a private key in any format that Flux reads. Size, type and numbers are checked before any
 * cryptography, because a project writes this text (decision 33). `ssh2` could replace only the OpenSSH part, at 134 KB
 * (decision 23).
 * @param passphrase the Secret's `password`, with which Flux decrypts the key
 */
export function readIdentity(pem: string, passphrase?: string): Identity {
  if (pem.length > MAX_PEM_KIB * 1024) return tooLong;
  const text = pem.trimStart();
  const format = PEM.exec(text)?.[1];
  if (format === undefined)
    return { problem: 'is not a private key in a format that Flux reads (PKCS#8, PKCS#1, SEC1 or OpenSSH)' };
  if (format === 'DSA PRIVATE KEY') return unsupported;
  const block = pemBlock(text);
  if (block === undefined) return damaged;
  if (!HAS_LINES.test(pem)) return withoutLines;
  const { bytes, encryption } = block;
  try {
    if (format === 'OPENSSH PRIVATE KEY') return openSsh(bytes, passphrase);
    if (encryption === undefined) return derived(format, bytes);
  } catch {
    return damaged;
  }
  if (!passphrase) return encrypted;
  try {
    return derived(format, decryptPem(bytes, encryption, passphrase));
  } catch {
    return undecryptable;
  }
}

/** An RSA key of 16,384 bits, the largest that OpenSSL uses, takes 13 KiB. */
const MAX_PEM_KIB = 32;

const tooLong: Identity = { problem: `is longer than ${MAX_PEM_KIB} KiB, which no key for a Git host is` };
const encrypted: Identity = { problem: 'is encrypted, and password does not contain its passphrase' };
const damaged: Identity = { problem: 'is damaged' };
const withoutLines: Identity = {
  problem: 'cannot be read by Flux, because its lines are joined or indented',
};
const undecryptable: Identity = {
  problem: 'cannot be decrypted: it is damaged, or the key password holds the wrong passphrase',
};

function derived(format: string, der: Buffer): Identity {
  const key = derivePublicKey(format, der);
  if ('problem' in key) return key;
  const publicKey = publicKeyOf(key.blob);
  return publicKey === undefined ? damaged : { publicKey };
}

function openSsh(bytes: Buffer, passphrase: string | undefined): Identity {
  const key = readOpenSshKey(bytes);
  if ('problem' in key) return key;
  return key.isEncrypted && !passphrase ? encrypted : { publicKey: key.publicKey };
}

/** A PEM block (RFC 7468). */
interface PemBlock {
  /** For example `RSA PRIVATE KEY`. */
  label: string;
  /** `cipher,iv` of a block that is encrypted as RFC 1421 describes. */
  encryption: string | undefined;
  bytes: Buffer;
}

const BLOCK = /^-----BEGIN ([A-Z ]{1,40})-----([^-]*)-----END ([A-Z ]{1,40})-----/;
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

/** Returns the first PEM block of a text that begins with one; undefined when there is none, or it is cut. */
function pemBlock(text: string): PemBlock | undefined {
  // The name of a cipher contains the "-" that otherwise begins the last line.
  const encryption = /^DEK-Info: ([A-Za-z0-9]+-[A-Za-z0-9-]+,[0-9A-Fa-f]+)\s*$/m.exec(text)?.[1];
  const withoutHeaders = text.replace(/^Proc-Type: 4,ENCRYPTED\s*$/m, '').replace(/^DEK-Info: [\w,-]+\s*$/m, '');
  const [, label, body = '', end] = BLOCK.exec(withoutHeaders) ?? [];
  if (label === undefined || label !== end || !BASE64.test(body)) return undefined;
  return { label, encryption, bytes: Buffer.from(body, 'base64') };
}

/** Ciphers that Flux decrypts (crypto/x509 of Go, rfc1423Algos) and the key size of each. DES alone is too weak. */
const ciphers: Record<string, { name: string; keyBytes: number }> = {
  'DES-EDE3-CBC': { name: 'des-ede3-cbc', keyBytes: 24 },
  'AES-128-CBC': { name: 'aes-128-cbc', keyBytes: 16 },
  'AES-192-CBC': { name: 'aes-192-cbc', keyBytes: 24 },
  'AES-256-CBC': { name: 'aes-256-cbc', keyBytes: 32 },
};

/** Decrypts an RFC 1421 block, whose key is one MD5 of the passphrase. @throws Error when it cannot be decrypted */
function decryptPem(bytes: Buffer, encryption: string, passphrase: string): Buffer {
  const [cipher = '', hexIv = ''] = encryption.split(',');
  const known = ciphers[cipher];
  const iv = Buffer.from(hexIv, 'hex');
  if (known === undefined || iv.length < 8) throw new Error('unknown encryption');
  let [key, last] = [Buffer.alloc(0), Buffer.alloc(0)];
  while (key.length < known.keyBytes) {
    last = createHash('md5').update(last).update(passphrase).update(iv.subarray(0, 8)).digest();
    key = Buffer.concat([key, last]);
  }
  const decipher = createDecipheriv(known.name, key.subarray(0, known.keyBytes), iv);
  return Buffer.concat([decipher.update(bytes), decipher.final()]);
}
