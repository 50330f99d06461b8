import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

export type KeyType = 'ed25519' | 'rsa';

/** Some Git hosts reject fewer than 4096 bits. */
const RSA_BITS = 4096;

/** Generates a private key as PKCS#8 PEM, which Flux reads as `identity`. */
export async function generateIdentity(type: KeyType): Promise<string> {
  const generate = promisify(generateKeyPair);
  const { privateKey } = await (type === 'rsa' ? generate('rsa', { modulusLength: RSA_BITS }) : generate('ed25519'));
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
