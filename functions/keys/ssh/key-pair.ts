import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

export type KeyType = 'ed25519' | 'rsa';

/** 4096 bits: some hosting sites refuse less. */
const RSA_BITS = 4096;

/** A new private key as PKCS#8 PEM, which Flux takes as `identity`. */
export async function generateIdentity(type: KeyType): Promise<string> {
  return type === 'rsa' ? generateRsa() : generateEd25519();
}

async function generateEd25519(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

async function generateRsa(): Promise<string> {
  // Only whoever asks for RSA pays for loading it.
  const { default: forge } = await import('node-forge');
  const pair = await new Promise<import('node-forge').pki.rsa.KeyPair>((resolve, reject) => {
    // With a callback forge takes the native generator and leaves the event loop free (a quarter of a second).
    forge.pki.rsa.generateKeyPair({ bits: RSA_BITS }, (error, keyPair) => (error ? reject(error) : resolve(keyPair)));
  });
  const info = forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(pair.privateKey));
  return forge.pki.privateKeyInfoToPem(info).replaceAll('\r\n', '\n');
}
