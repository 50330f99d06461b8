import type { KeyPair } from './certificates.ts';

/** Where the serving certificate comes from. */
export interface CertificateSource {
  /** Called repeatedly. */
  current(signal: AbortSignal): Promise<CurrentCertificate>;
}

/** The certificate to serve, and the problems with it. */
export interface CurrentCertificate {
  certificate: KeyPair;
  /** One sentence for each problem; known later, because the clusters have to answer first. */
  problems: Promise<string[]>;
}
