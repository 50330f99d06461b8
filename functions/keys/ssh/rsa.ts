import { sshString } from '../../../shared/ssh/wire.ts';

/** OpenSSL uses no larger modulus (OPENSSL_RSA_MAX_MODULUS_BITS), and Go, with which Flux is built, no smaller one. */
const BITS = { least: 1024, most: 16_384 };

/** Go refuses a larger exponent (crypto/rsa, checkKeySize), and a large one makes each signature slow to verify. */
const MAX_EXPONENT = 2 ** 31 - 1;

/** Returns why an RSA key with this modulus and exponent cannot be used; undefined when it can. */
export function rsaProblem(modulus: Buffer, exponent: Buffer): string | undefined {
  const bits = bitLength(modulus);
  if (bits < BITS.least || bits > BITS.most) {
    return `is an RSA key of ${bits} bits; use one of ${BITS.least} to ${BITS.most} bits`;
  }
  const e = bitLength(exponent) > 31 ? Number.POSITIVE_INFINITY : Number(`0x${exponent.toString('hex') || '0'}`);
  if (e < 3 || e > MAX_EXPONENT || e % 2 === 0) {
    return 'is an RSA key with an unusual public exponent; use one with 65537';
  }
  return undefined;
}

function bitLength(bytes: Buffer): number {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? 0 : (bytes.length - first) * 8 - Math.clz32(bytes[first] ?? 0) + 24;
}

/** Encodes a positive `mpint`: no leading zeros, except one where the highest bit would mean a negative number. */
export function sshInteger(magnitude: Uint8Array): Buffer {
  const first = magnitude.findIndex((byte) => byte !== 0);
  const bytes = first < 0 ? Buffer.alloc(0) : Buffer.from(magnitude.subarray(first));
  const negative = (bytes[0] ?? 0) >= 0x80;
  return sshString(negative ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}
