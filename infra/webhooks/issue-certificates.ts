import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import forge from 'node-forge';
import { AUTHORITY_MS, BACKDATED_MS, type KeyPair, SERVING_MS } from './certificates.ts';

const RSA_BITS = 2048;

/** Issues an authority for serving certificates. */
export async function issueAuthority(now: Date): Promise<KeyPair> {
  const keys = await rsaKeys();
  const certificate = createUnsigned(keys, now, now.getTime() + AUTHORITY_MS);
  // Each has its own name, because an API server trusts two of them during a rotation.
  const name = [{ name: 'commonName', value: `shoot-flux-webhooks-${certificate.serialNumber.slice(0, 8)}` }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, digitalSignature: true },
    { name: 'subjectKeyIdentifier' },
  ]);
  return sign(certificate, keys, keys.privateKey);
}

/** Issues a serving certificate for these names. */
export async function issueServing(authority: KeyPair, names: readonly string[], now: Date): Promise<KeyPair> {
  const keys = await rsaKeys();
  const issuer = forge.pki.certificateFromPem(authority.cert);
  const end = Math.min(now.getTime() + SERVING_MS, issuer.validity.notAfter.getTime());
  const certificate = createUnsigned(keys, now, end);
  certificate.setSubject([{ name: 'commonName', value: 'shoot-flux-webhooks' }]);
  certificate.setIssuer(issuer.subject.attributes);
  certificate.setExtensions([
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: names.map(altName) },
    { name: 'authorityKeyIdentifier', keyIdentifier: issuer.generateSubjectKeyIdentifier().getBytes() },
  ]);
  return sign(certificate, keys, forge.pki.privateKeyFromPem(authority.key));
}

const altName = (name: string) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name });

function createUnsigned(keys: forge.pki.rsa.KeyPair, now: Date, end: number): forge.pki.Certificate {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = keys.publicKey;
  // A positive number: its first bit is 0, its first digit is not.
  certificate.serialNumber = `4${randomBytes(16).toString('hex').slice(1)}`;
  certificate.validity.notBefore = new Date(now.getTime() - BACKDATED_MS);
  certificate.validity.notAfter = new Date(end);
  return certificate;
}

function sign(
  certificate: forge.pki.Certificate,
  keys: forge.pki.rsa.KeyPair,
  signer: forge.pki.rsa.PrivateKey,
): KeyPair {
  certificate.sign(signer, forge.md.sha256.create());
  const pem = (text: string) => text.replaceAll('\r\n', '\n');
  return {
    cert: pem(forge.pki.certificateToPem(certificate)),
    key: pem(forge.pki.privateKeyToPem(keys.privateKey)),
  };
}

/** Generates a key pair. With a callback, forge uses Node's generator and does not block the event loop. */
function rsaKeys(): Promise<forge.pki.rsa.KeyPair> {
  return new Promise((resolve, reject) => {
    forge.pki.rsa.generateKeyPair({ bits: RSA_BITS }, (error, keys) => (error ? reject(error) : resolve(keys)));
  });
}
