import { type PublicKey, publicKeyOf } from '../../../shared/ssh/public-key.ts';
import { readOpenSshKey } from './openssh-key.ts';
import { decryptPem, MAX_PEM_KIB, pemBlock } from './pem.ts';
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
