import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import forge from 'node-forge';
import {
  AUTHORITY_MS,
  BACKDATED_MS,
  type Certificates,
  type Due,
  type KeyPair,
  namesFor,
  SERVING_MS,
} from './certificates.ts';

const RSA_BITS = 2048;

/** Makes what is due, and keeps the rest. */
export async function renewed(
  certificates: Certificates | undefined,
  due: Due,
  hosts: readonly string[],
  now: Date,
): Promise<Certificates> {
  const names = namesFor(certificates, hosts);
  if (certificates === undefined || due.all) {
    const authority = await makeAuthority(now);
    return { authority, serving: await makeServing(authority, names, now) };
  }
  const kept = due.forget ? { ...certificates, former: undefined } : certificates;
  const { next } = kept;
  if (due.takeOver && next !== undefined) {
    return { authority: next, former: kept.authority.cert, serving: await makeServing(next, names, now) };
  }
  return {
    ...kept,
    ...(due.next && { next: await makeAuthority(now) }),
    ...(due.serving && { serving: await makeServing(kept.authority, names, now) }),
  };
}

async function makeAuthority(now: Date): Promise<KeyPair> {
  const keys = await rsaKeys();
  const certificate = blank(keys, now, now.getTime() + AUTHORITY_MS);
  // Each with a name of its own: while one follows the other an API server trusts both.
  const name = [{ name: 'commonName', value: `shoot-flux-webhooks-${certificate.serialNumber.slice(0, 8)}` }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, digitalSignature: true },
    { name: 'subjectKeyIdentifier' },
  ]);
  return signed(certificate, keys, keys.privateKey);
}

async function makeServing(authority: KeyPair, names: readonly string[], now: Date): Promise<KeyPair> {
  const keys = await rsaKeys();
  const issuer = forge.pki.certificateFromPem(authority.cert);
  const end = Math.min(now.getTime() + SERVING_MS, issuer.validity.notAfter.getTime());
  const certificate = blank(keys, now, end);
  certificate.setSubject([{ name: 'commonName', value: 'shoot-flux-webhooks' }]);
  certificate.setIssuer(issuer.subject.attributes);
  certificate.setExtensions([
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: names.map(altName) },
    { name: 'authorityKeyIdentifier', keyIdentifier: issuer.generateSubjectKeyIdentifier().getBytes() },
  ]);
  return signed(certificate, keys, forge.pki.privateKeyFromPem(authority.key));
}

const altName = (name: string) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name });

function blank(keys: forge.pki.rsa.KeyPair, now: Date, end: number): forge.pki.Certificate {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = keys.publicKey;
  // A positive number: its first bit is 0 and its first digit is not.
  certificate.serialNumber = `4${randomBytes(16).toString('hex').slice(1)}`;
  certificate.validity.notBefore = new Date(now.getTime() - BACKDATED_MS);
  certificate.validity.notAfter = new Date(end);
  return certificate;
}

function signed(
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

/** With a callback forge takes the native generator and leaves the event loop free. */
function rsaKeys(): Promise<forge.pki.rsa.KeyPair> {
  return new Promise((resolve, reject) => {
    forge.pki.rsa.generateKeyPair({ bits: RSA_BITS }, (error, keys) => (error ? reject(error) : resolve(keys)));
  });
}
