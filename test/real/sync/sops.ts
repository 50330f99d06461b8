import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildTools } from '../tools/build.ts';
import { folderWith, runProgram } from '../tools/cache.ts';
import { installDebian } from '../tools/debian.ts';

/** How a page says that manifests are encrypted. */
export interface Encryption {
  /** Encrypts `secret.yaml` in its folder. */
  command: string;
  /** The file `.sops.yaml` of a repository, with its public key. */
  rules: string;
  /** Further variables of the command. */
  env?: Record<string, string>;
}

/** Returns a Secret as SOPS writes it, which only the owner of the key can read. */
export async function encrypted(
  { command, rules, env: variables }: Encryption,
  name: string,
  stringData: Record<string, string>,
): Promise<string> {
  const { sops } = await buildTools(['sops']);
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
  await using folder = await folderWith({ 'secret.yaml': JSON.stringify(secret), '.sops.yaml': rules });
  const env = { ...variables, PATH: `${dirname(sops)}:${process.env.PATH}` };
  await runProgram('sh', ['-c', command], folder.path, env);
  return await readFile(join(folder.path, 'secret.yaml'), 'utf8');
}

/** Runs the commands of a page that make a key of PGP in a keyring of its own, and write it into a file. */
export async function pgpKey(commands: readonly string[], file: string) {
  await installDebian(['gpg', 'gpg-agent']);
  const home = await mkdtemp(join(tmpdir(), 'pgp-'));
  await chmod(home, 0o700);
  const env = { GNUPGHOME: home };
  for (const command of commands) await runProgram('sh', ['-c', command], home, env);
  const listed = await runProgram('gpg', ['--with-colons', '--list-keys'], home, env);
  return {
    privateKey: await readFile(join(home, file), 'utf8'),
    fingerprint: /^fpr:+(\w+):/m.exec(listed)?.[1] ?? '',
    env,
    async [Symbol.asyncDispose]() {
      await runProgram('gpgconf', ['--homedir', home, '--kill', 'all']);
      await rm(home, { recursive: true, force: true });
    },
  };
}

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
