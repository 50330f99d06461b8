import { type PublicKey, publicKeyOf } from '../../../shared/ssh/public-key.ts';
import { sshReader } from '../../../shared/ssh/wire.ts';
import { unsupported } from './private-key.ts';
import { rsaProblem } from './rsa.ts';

const MAGIC = 'openssh-key-v1\0';

/** `ssh-keygen` derives keys with 16 or 24 rounds of bcrypt by default; Flux would need minutes for more than these. */
const MAX_ROUNDS = 10_000;

const types = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa'];

/** What the OpenSSH format says in the clear. */
export type OpenSshKey = { publicKey: PublicKey; isEncrypted: boolean } | { problem: string };

/**
 * Reads the OpenSSH format, which node:crypto does not support. It carries the public key unencrypted (PROTOCOL.key of
 * OpenSSH), so an encrypted key is not decrypted here, and a wrong passphrase is not noticed.
 * @throws RangeError when the bytes are damaged
 */
export function readOpenSshKey(bytes: Buffer): OpenSshKey {
  const reader = sshReader(bytes);
  if (reader.take(MAGIC.length).toString('latin1') !== MAGIC) throw new RangeError('not an OpenSSH key');
  const cipher = reader.string().toString('latin1');
  const derivation = reader.string().toString('latin1');
  const options = reader.string();
  if (reader.uint32() !== 1) throw new RangeError('not one key');
  const publicKey = publicKeyOf(reader.string());
  const secret = sshReader(reader.string());
  if (publicKey === undefined) throw new RangeError('no public key');
  const problem = publicKeyProblem(publicKey) ?? derivationProblem(derivation, options);
  if (problem !== undefined) return { problem };
  if (cipher !== 'none') return { publicKey, isEncrypted: true };
  // Two equal numbers mean that nothing was cut or mistyped.
  const [first, second] = [secret.uint32(), secret.uint32()];
  if (first !== second || secret.string().toString('latin1') !== publicKey.type) throw new RangeError('cut');
  return { publicKey, isEncrypted: false };
}

function derivationProblem(derivation: string, options: Buffer): string | undefined {
  if (derivation !== 'bcrypt') return undefined;
  const reader = sshReader(options);
  reader.string(); // Salt.
  if (reader.uint32() <= MAX_ROUNDS) return undefined;
  return `is encrypted with more than ${MAX_ROUNDS} rounds; encrypt it again with fewer (ssh-keygen -p -a 100)`;
}

/** Returns why no Git host accepts a public key; undefined when it may. */
export function publicKeyProblem({ type, blob }: PublicKey): string | undefined {
  if (!types.includes(type)) return unsupported.problem;
  if (type !== 'ssh-rsa') return undefined;
  const reader = sshReader(blob);
  reader.string();
  const exponent = reader.string();
  return rsaProblem(reader.string(), exponent);
}
