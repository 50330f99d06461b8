import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileProblem, ShootFluxError } from '../../shared/errors.ts';
import { type CertificateSource, validityOf } from './certificates.ts';

export interface CertificateFiles {
  certFile: string;
  keyFile: string;
  /** Its authority, for the API servers. Absent: they get it from elsewhere, too. */
  caFile?: string | undefined;
}

/** Serves a certificate from files, which may be replaced at any time. */
export function certificateFromFiles({ certFile, keyFile, caFile }: CertificateFiles, now: () => Date) {
  return {
    async current() {
      // One after the other, so that the same file is reported when both are missing.
      const cert = await read(certFile);
      const key = await read(keyFile);
      const certificate = certificateIn(certFile, cert);
      if (!certificate.checkPrivateKey(keyIn(keyFile, key))) {
        throw new ShootFluxError(
          `${keyFile} is not the key of the first certificate in ${certFile}; pass a certificate and its key.`,
        );
      }
      const { isValid, problem } = validityOf(cert, now());
      if (!isValid) throw new ShootFluxError(`${certFile} ${problem}; pass one that is valid.`);
      // API servers check only these names, not the common name.
      if (!certificate.subjectAltName) {
        throw new ShootFluxError(`${certFile} has no host in its subjectAltName; pass one that does.`);
      }
      const authorities = caFile === undefined ? undefined : await read(caFile);
      if (authorities !== undefined) certificateIn(caFile ?? '', authorities);
      return { certificate: { cert, key }, authorities };
    },
  } satisfies CertificateSource;
}

// The library's messages do not name the file.
function certificateIn(file: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw new ShootFluxError(`${file} is not a certificate; pass one in PEM format.`);
  }
}

function keyIn(file: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    const problem = text.includes('ENCRYPTED')
      ? 'is encrypted; pass one without a passphrase'
      : 'is not a private key; pass one in PEM format';
    throw new ShootFluxError(`${file} ${problem}.`);
  }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ShootFluxError(`cannot read ${file}: ${fileProblem(error)}; pass a file in PEM format.`);
  }
}
