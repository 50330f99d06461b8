import type { KeyPair } from './certificates.ts';

/** Where the serving certificate comes from. */
export interface CertificateSource {
  /** The one to serve with now, and what could not be done; asked again and again. */
  current(signal: AbortSignal): Promise<{ certificate: KeyPair; problems: string[] }>;
}
