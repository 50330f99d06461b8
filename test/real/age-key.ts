import { generateKeyPairSync } from 'node:crypto';

/** A new key pair of age, as age-keygen prints it. */
export function ageKey(): { identity: string; recipient: string } {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const raw = (jwk: { d?: string | undefined; x?: string | undefined }, part: 'd' | 'x') =>
    Buffer.from(jwk[part] ?? '', 'base64url');
  const secret = raw(privateKey.export({ format: 'jwk' }), 'd');
  const recipient = raw(publicKey.export({ format: 'jwk' }), 'x');
  return { identity: bech32('age-secret-key-', secret).toUpperCase(), recipient: bech32('age', recipient) };
}

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** Encodes bytes as BIP 173 describes it. */
function bech32(prefix: string, bytes: Buffer): string {
  const values = inGroupsOfFive(bytes);
  const codes = [...prefix].map((letter) => letter.charCodeAt(0));
  const expanded = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
  const sum = checksum([...expanded, ...values, 0, 0, 0, 0, 0, 0]) ^ 1;
  const check = [0, 1, 2, 3, 4, 5].map((index) => (sum >> (5 * (5 - index))) & 31);
  return `${prefix}1${[...values, ...check].map((value) => ALPHABET[value]).join('')}`;
}

function inGroupsOfFive(bytes: Buffer): number[] {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((group) => Number.parseInt(group.padEnd(5, '0'), 2));
}

function checksum(values: number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [index, generator] of GENERATORS.entries()) if (((top >> index) & 1) === 1) sum ^= generator;
  }
  return sum;
}
