import type { KeyPair } from './certificates.ts';

/** Where the serving certificate comes from. */
export interface CertificateSource {
  /** Asked again and again. */
  current(signal: AbortSignal): Promise<CurrentCertificate>;
}

/** What a look has brought. */
export interface CurrentCertificate {
  /** The one to serve with from now on. */
  certificate: KeyPair;
  /** What could not be done for it, one sentence each: known later, because clusters have to be asked. */
  problems: Promise<string[]>;
}
