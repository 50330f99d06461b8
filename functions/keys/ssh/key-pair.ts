import { generateKeyPair, type KeyPairKeyObjectResult } from 'node:crypto';
import { promisify } from 'node:util';
import { createTurns } from '../../../shared/turns.ts';

export type KeyType = 'ed25519' | 'rsa';

/** Some Git hosts reject fewer than 4096 bits. */
const RSA_BITS = 4096;

/**
 * An RSA key takes seconds in one of the four threads that files and the names of all API servers wait for, and a project
 * that deletes its Secret gets a new one each time.
 */
const rsaTurns = createTurns(2);

/**
 * Generates a private key as PKCS#8 PEM, which Flux reads as `identity`.
 * @throws the signal's reason when it aborts before it is this key's turn
 */
export async function generateIdentity(type: KeyType, signal: AbortSignal = AbortSignal.any([])): Promise<string> {
  const generate = promisify(generateKeyPair);
  if (type === 'ed25519') return pemOf(await generate('ed25519'));
  const end = await rsaTurns.take(signal);
  try {
    return pemOf(await generate('rsa', { modulusLength: RSA_BITS }));
  } finally {
    end();
  }
}

function pemOf({ privateKey }: KeyPairKeyObjectResult): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
