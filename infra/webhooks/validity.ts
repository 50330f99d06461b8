import { X509Certificate } from 'node:crypto';

/** The validity of a certificate at some time. */
export interface Validity {
  /** Whether clients accept it. */
  isValid: boolean;
  until: Date;
  /** `expired at …`, `expires at …` when its renewal is overdue, or `is not valid before …`. */
  problem?: string | undefined;
}

/** The remaining share of its life below which its renewal is overdue: we renew at a half, others at a third. */
const OVERDUE_SHARE = 0.1;

export function validityOf(cert: string, now: Date): Validity {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, until] = [new Date(validFrom), new Date(validTo)];
  const left = until.getTime() - now.getTime();
  if (now < from) return { isValid: false, until, problem: `is not valid before ${from.toISOString()}` };
  if (left <= 0) return { isValid: false, until, problem: `expired at ${until.toISOString()}` };
  const isOverdue = left < OVERDUE_SHARE * (until.getTime() - from.getTime());
  return { isValid: true, until, problem: isOverdue ? `expires at ${until.toISOString()}` : undefined };
}
