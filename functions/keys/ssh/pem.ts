import { createDecipheriv, createHash } from 'node:crypto';

/** An RSA key of 16,384 bits, the largest that OpenSSL uses, takes 13 KiB. */
export const MAX_PEM_KIB = 32;

/** A PEM block (RFC 7468). */
export interface PemBlock {
  /** For example `RSA PRIVATE KEY`. */
  label: string;
  /** `cipher,iv` of a block that is encrypted as RFC 1421 describes. */
  encryption: string | undefined;
  bytes: Buffer;
}

const BLOCK = /^-----BEGIN ([A-Z ]{1,40})-----([^-]*)-----END ([A-Z ]{1,40})-----/;
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

/** Returns the first PEM block of a text that begins with one; undefined when there is none, or it is cut. */
export function pemBlock(text: string): PemBlock | undefined {
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
export function decryptPem(bytes: Buffer, encryption: string, passphrase: string): Buffer {
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
