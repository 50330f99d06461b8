import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { errorMessage, ShootFluxError } from '../../shared/runtime/errors.ts';
import type { CertificateSource } from './certificate-source.ts';
import { validityOf } from './validity.ts';

/** The files of a certificate that somebody else makes and renews; whom the API servers trust is theirs to say too. */
export function givenCertificate(certFile: string, keyFile: string, now: () => Date) {
  return {
    async current() {
      const [cert, key] = await Promise.all([certFile, keyFile].map(read));
      const certificate = { cert: cert ?? '', key: key ?? '' };
      try {
        createSecureContext(certificate);
      } catch {
        // The library's message says nothing about the files.
        throw new ShootFluxError(`${certFile} and ${keyFile} are no certificate with its key: give both as PEM.`);
      }
      const { isValid, problem } = validityOf(certificate.cert, now());
      if (!isValid) throw new ShootFluxError(`${certFile} ${problem}: give one that is valid now.`);
      return { certificate, problems: Promise.resolve([]) };
    },
  } satisfies CertificateSource;
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ShootFluxError(`${file} cannot be read (${errorMessage(error)}): name a file in PEM.`);
  }
}
