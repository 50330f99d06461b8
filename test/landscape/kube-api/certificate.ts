import forge from 'node-forge';

export interface Certificate {
  /** PEM; also its own authority. */
  cert: string;
  key: string;
}

let made: Certificate | undefined;

/** Returns a certificate for the loopback addresses, one per process: an RSA key takes 50 ms. */
export function loopbackCertificate(): Certificate {
  made ??= make();
  return made;
}

function make(): Certificate {
  const keys = forge.pki.rsa.generateKeyPair(2048);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = keys.publicKey;
  certificate.serialNumber = '01';
  certificate.validity.notBefore = new Date(Date.now() - 3_600_000);
  certificate.validity.notAfter = new Date(Date.now() + 7 * 86_400_000);
  const name = [{ name: 'commonName', value: 'embedded-kubernetes-api' }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  const altNames = [
    { type: 7, ip: '127.0.0.1' },
    { type: 2, value: 'localhost' },
  ];
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames },
  ]);
  certificate.sign(keys.privateKey, forge.md.sha256.create());
  return { cert: forge.pki.certificateToPem(certificate), key: forge.pki.privateKeyToPem(keys.privateKey) };
}
