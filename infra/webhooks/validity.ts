import { X509Certificate } from 'node:crypto';

/** What the dates of a certificate mean at some time. */
export interface Validity {
  /** Whether anybody accepts it. */
  isValid: boolean;
  until: Date;
  /** `expired at …`, `ends at …` where somebody should have renewed it by now, or `is valid from … on`. */
  problem?: string | undefined;
}

/** Whoever renews certificates does so earlier: we at half of their life, others at a third that is left. */
const SHOULD_BE_RENEWED = 0.1;

export function validityOf(cert: string, now: Date): Validity {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, until] = [new Date(validFrom), new Date(validTo)];
  const left = until.getTime() - now.getTime();
  if (now < from) return { isValid: false, until, problem: `is valid from ${from.toISOString()} on` };
  if (left <= 0) return { isValid: false, until, problem: `expired at ${until.toISOString()}` };
  const isLate = left < SHOULD_BE_RENEWED * (until.getTime() - from.getTime());
  return { isValid: true, until, problem: isLate ? `ends at ${until.toISOString()}` : undefined };
}
