import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import type { CertificateSource } from './certificate-source.ts';
import { validityOf } from './validity.ts';

/** The files of a certificate that somebody else makes and renews; whom the API servers trust is theirs to say too. */
export function givenCertificate(certFile: string, keyFile: string, now: () => Date) {
  return {
    async current() {
      const [cert = '', key = ''] = await Promise.all([certFile, keyFile].map(read));
      const certificate = certificateIn(certFile, cert);
      if (!certificate.checkPrivateKey(keyIn(keyFile, key))) {
        throw new ShootFluxError(
          `${keyFile} is not the key of the first certificate in ${certFile}: give both of one.`,
        );
      }
      const { isValid, problem } = validityOf(cert, now());
      if (!isValid) throw new ShootFluxError(`${certFile} ${problem}: give one that is valid now.`);
      // API servers look nowhere else, not even at the common name.
      if (!certificate.subjectAltName) {
        throw new ShootFluxError(`${certFile} names no host in its subjectAltName: give one that does.`);
      }
      return { certificate: { cert, key }, problems: Promise.resolve([]) };
    },
  } satisfies CertificateSource;
}

// The library's messages say nothing about the files.
function certificateIn(file: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw new ShootFluxError(`${file} is no certificate: give one as PEM.`);
  }
}

function keyIn(file: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    const what = text.includes('ENCRYPTED')
      ? 'needs a passphrase: give it without one'
      : 'is no private key: give one as PEM';
    throw new ShootFluxError(`${file} ${what}.`);
  }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ShootFluxError(`${file} cannot be read (${errorMessage(error)}): name a file in PEM.`);
  }
}
