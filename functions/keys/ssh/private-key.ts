import { createECDH, createPrivateKey, createPublicKey } from 'node:crypto';
import { sshString } from '../../../shared/ssh/wire.ts';
import { rsaProblem, sshInteger } from './rsa.ts';

/** The public key of a private key as SSH transmits it, or why no Git host would accept it. */
export type DerivedKey = { blob: Buffer } | { problem: string };

/** Object identifiers of key types and curves, in hexadecimal (RFC 3279, 5480, 8410). */
const RSA = '2a864886f70d010101';
const EC = '2a8648ce3d0201';
const ED25519 = '2b6570';
const curves: Record<string, { ssh: string; name: string; bytes: number }> = {
  '2a8648ce3d030107': { ssh: 'nistp256', name: 'prime256v1', bytes: 32 },
  '2b81040022': { ssh: 'nistp384', name: 'secp384r1', bytes: 48 },
  '2b81040023': { ssh: 'nistp521', name: 'secp521r1', bytes: 66 },
};

/** The problem of a key whose type or curve is not supported. */
export const unsupported = { problem: 'is of a type that Git hosts do not accept; use Ed25519, ECDSA or RSA' };

/**
 * Derives the public key from the DER of a private key. We read the structure ourselves, and OpenSSL sees only keys of
 * known types and sizes: it completes a DSA or Diffie-Hellman key with a large prime for seconds or days.
 * @throws Error when the bytes are damaged
 */
export function derivePublicKey(label: string, der: Buffer): DerivedKey {
  if (label === 'RSA PRIVATE KEY') return rsaKey(der);
  if (label === 'EC PRIVATE KEY') return ecKey(der, undefined);
  return pkcs8Key(der);
}

/** Reads PKCS#8 (RFC 5208): version, algorithm, key, and attributes that Flux ignores. */
function pkcs8Key(der: Buffer): DerivedKey {
  const [version, algorithm, key] = derSequence(der);
  contentOf(version, tags.integer);
  const [oid, parameters] = derElements(contentOf(algorithm, tags.sequence));
  const bytes = contentOf(key, tags.octetString);
  const type = contentOf(oid, tags.oid).toString('hex');
  if (type === RSA) return rsaKey(bytes);
  if (type === EC) return ecKey(bytes, parameters);
  if (type === ED25519) return ed25519Key(contentOf(derElements(bytes)[0], tags.octetString));
  return unsupported;
}

/** Reads PKCS#1 (RFC 8017, A.1.2): version, modulus, public exponent, private exponent, two primes and more. */
function rsaKey(der: Buffer): DerivedKey {
  const elements = derSequence(der);
  if (elements.length < 9) throw new RangeError('a number is missing');
  const [version, n, e, , p, q] = elements.map((element) => contentOf(element, tags.integer));
  if (version === undefined || n === undefined || e === undefined) throw new RangeError('a number is missing');
  const problem = rsaProblem(n, e);
  if (problem !== undefined) return { problem };
  // Version 1 has further primes.
  if (version[0] === 0 && number(p) * number(q) !== number(n)) throw new RangeError('the primes do not match');
  return { blob: Buffer.concat([sshString('ssh-rsa'), sshInteger(e), sshInteger(n)]) };
}

function number(bytes: Buffer | undefined): bigint {
  return BigInt(`0x${bytes?.toString('hex') || '0'}`);
}

/** Reads SEC 1 (RFC 5915): version, private key, and a named curve, which PKCS#8 has outside. */
function ecKey(der: Buffer, outside: DerElement | undefined): DerivedKey {
  const [version, key, ...optional] = derSequence(der);
  contentOf(version, tags.integer);
  const secret = contentOf(key, tags.octetString);
  const inside = optional.find(({ tag }) => tag === tags.context0);
  const parameters = outside ?? (inside && derElements(inside.content)[0]);
  const curve = parameters?.tag === tags.oid ? curves[parameters.content.toString('hex')] : undefined;
  // Among others a curve that is described instead of named.
  if (curve === undefined) return unsupported;
  if (secret.length > curve.bytes) throw new RangeError('the number is too long for the curve');
  const ecdh = createECDH(curve.name);
  ecdh.setPrivateKey(secret);
  const name = sshString(`ecdsa-sha2-${curve.ssh}`);
  return { blob: Buffer.concat([name, sshString(curve.ssh), sshString(ecdh.getPublicKey())]) };
}

const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function ed25519Key(seed: Buffer): DerivedKey {
  if (seed.length !== 32) throw new RangeError('an Ed25519 key has 32 bytes');
  const der = Buffer.concat([ED25519_PKCS8, seed]);
  const { x = '' } = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  });
  return { blob: Buffer.concat([sshString('ssh-ed25519'), sshString(Buffer.from(x, 'base64url'))]) };
}

/** Tags of ASN.1 (X.690), as far as private keys use them. */
const tags = { integer: 0x02, octetString: 0x04, oid: 0x06, sequence: 0x30, context0: 0xa0 } as const;

/** One element of DER. */
interface DerElement {
  tag: number;
  content: Buffer;
}

/** The longest private key structure, RSA, has ten elements. */
const MOST_ELEMENTS = 16;

/**
 * Reads the elements that follow one another in a buffer, without their own elements. The work is bounded by the number
 * of elements, whatever their contents are.
 * @throws RangeError when the bytes end early or there are too many elements
 */
function derElements(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (elements.length === MOST_ELEMENTS) throw new RangeError('the sequence has too many elements');
    const tag = bytes.readUInt8(at);
    const { length, start } = lengthAt(bytes, at + 1);
    if (start + length > bytes.length) throw new RangeError('the data ends early');
    elements.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return elements;
}

/** Returns the elements of the only SEQUENCE in a buffer. @throws RangeError when it is something else */
function derSequence(bytes: Buffer): DerElement[] {
  const [sequence, more] = derElements(bytes);
  if (sequence?.tag !== tags.sequence || more !== undefined) throw new RangeError('not a SEQUENCE');
  return derElements(sequence.content);
}

/** Returns the content of an element. @throws RangeError when it is missing or has another tag */
function contentOf(element: DerElement | undefined, tag: number): Buffer {
  if (element?.tag !== tag) throw new RangeError('an element is missing');
  return element.content;
}

/** Lengths of more than two bytes do not occur in a private key. */
function lengthAt(bytes: Buffer, at: number): { length: number; start: number } {
  const first = bytes.readUInt8(at);
  if (first < 0x80) return { length: first, start: at + 1 };
  if (first === 0x81) return { length: bytes.readUInt8(at + 1), start: at + 2 };
  if (first === 0x82) return { length: bytes.readUInt16BE(at + 1), start: at + 3 };
  throw new RangeError('the length is not plausible');
}
