import { X509Certificate } from 'node:crypto';
import { hostOf } from './hosts.ts';

/** A certificate and its private key, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

export interface CertificateSource {
  /** Returns it, and one sentence for each problem, which are known once the clusters have answered. */
  current(signal: AbortSignal): Promise<{ certificate: KeyPair; problems: Promise<string[]> }>;
}

/** The certificates that the processes of a deployment share in one Secret. */
export interface Certificates {
  /** Signs the serving certificate. */
  authority: KeyPair;
  /** Signs later serving certificates; published before, so that the API servers already trust it then. */
  next?: KeyPair | undefined;
  /** Certificate of the previous authority; some process may still serve a certificate signed by it. */
  former?: string | undefined;
  serving: KeyPair;
}

/** Returns the authorities that the API servers should trust. */
export function caBundle({ authority, next, former }: Certificates): string {
  return [authority.cert, next?.cert, former].filter((cert) => cert !== undefined).join('');
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Validity from now on; Gardener's webhook authorities are valid for 30 days, too. */
export const AUTHORITY_MS = 30 * DAY;
export const SERVING_MS = 10 * DAY;

/** Clocks differ, so the validity starts some time before a certificate is issued. */
export const BACKDATED_MS = HOUR;

/** How long before the end of an authority the next one is issued, and how long before it takes over. */
const NEXT_BEFORE_MS = 10 * DAY;
const TAKE_OVER_BEFORE_MS = 5 * DAY;

/** After this time every API server and every process uses what was published. */
const SETTLED_MS = HOUR;

const RENEW_SERVING_BEFORE_MS = 5 * DAY;

/** Needs 0.3 MB of code, once in some days. */
const issuing = () => import('./issue-certificates.ts');

/**
 * Issues the certificates that are due, and keeps the others. Returns the same object while nothing is due.
 * @param certificates undefined when there are none, or when they cannot be read
 */
export async function renewed(
  certificates: Certificates | undefined,
  hosts: readonly string[],
  now: Date,
): Promise<Certificates> {
  const names = namesFor(certificates, hosts);
  const authority = certificates && new X509Certificate(certificates.authority.cert);
  const left = authority === undefined ? 0 : timeLeft(authority, now);
  if (certificates === undefined || authority === undefined || left <= 0 || isFromFuture(authority, now)) {
    const { issueAuthority, issueServing } = await issuing();
    const first = await issueAuthority(now);
    return { authority: first, serving: await issueServing(first, names, now) };
  }
  const { next, former } = certificates;
  if (next !== undefined && left <= TAKE_OVER_BEFORE_MS && isSettled(next, now)) {
    const serving = await (await issuing()).issueServing(next, names, now);
    return { authority: next, former: certificates.authority.cert, serving };
  }
  const isFormerOver = former !== undefined && timeLeft(new X509Certificate(former), now) <= 0;
  const current = isFormerOver ? { ...certificates, former: undefined } : certificates;
  const needsNext = left <= NEXT_BEFORE_MS && next === undefined;
  const needsServing = isServingDue(new X509Certificate(certificates.serving.cert), authority, hosts, now);
  if (!needsNext && !needsServing) return current;
  const { issueAuthority, issueServing } = await issuing();
  return {
    ...current,
    ...(needsNext && { next: await issueAuthority(now) }),
    ...(needsServing && { serving: await issueServing(current.authority, names, now) }),
  };
}

/** Returns the names for a new serving certificate: the API servers may call other processes by other names. */
function namesFor(certificates: Certificates | undefined, hosts: readonly string[]): string[] {
  const present = certificates === undefined ? [] : namesOf(new X509Certificate(certificates.serving.cert));
  const areCovered = hosts.every((host) => present.includes(host));
  // A name that is no longer configured is dropped at the next renewal.
  return [...new Set(areCovered ? hosts : [...hosts, ...present])];
}

function isServingDue(
  serving: X509Certificate,
  authority: X509Certificate,
  hosts: readonly string[],
  now: Date,
): boolean {
  const names = namesOf(serving);
  const isUsable = serving.verify(authority.publicKey) && !isFromFuture(serving, now);
  if (!isUsable || !hosts.every((host) => names.includes(host))) return true;
  // One that ends with its authority cannot last longer.
  const canLast = Date.parse(serving.validTo) < Date.parse(authority.validTo);
  return timeLeft(serving, now) <= RENEW_SERVING_BEFORE_MS && canLast;
}

function isSettled({ cert }: KeyPair, now: Date): boolean {
  const issuedAt = Date.parse(new X509Certificate(cert).validFrom) + BACKDATED_MS;
  return now.getTime() - issuedAt >= SETTLED_MS;
}

/** Detects a certificate from a wrong clock: clocks differ by less than certificates are backdated. */
function isFromFuture({ validFrom }: X509Certificate, now: Date): boolean {
  return Date.parse(validFrom) > now.getTime();
}

function timeLeft(certificate: X509Certificate, now: Date): number {
  return Date.parse(certificate.validTo) - now.getTime();
}

/** Returns the names in `DNS:a.example, IP Address:127.0.0.1`, normalized by `hostOf`. */
function namesOf({ subjectAltName }: X509Certificate): string[] {
  const names = (subjectAltName ?? '').split(', ').map((name) => hostOf(name.replace(/^(DNS|IP Address):/, '')));
  return names.filter((name) => name !== undefined);
}

/** The remaining share of its life below which its renewal is overdue: we renew at a half, others at a third. */
const OVERDUE_SHARE = 0.1;

/** Returns the validity of a certificate, PEM. */
export function validityOf(cert: string, now: Date): { isValid: boolean; until: Date; problem?: string | undefined } {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, until] = [new Date(validFrom), new Date(validTo)];
  const left = until.getTime() - now.getTime();
  if (now < from) return { isValid: false, until, problem: `is not valid before ${from.toISOString()}` };
  if (left <= 0) return { isValid: false, until, problem: `expired at ${until.toISOString()}` };
  const isOverdue = left < OVERDUE_SHARE * (until.getTime() - from.getTime());
  return { isValid: true, until, problem: isOverdue ? `expires at ${until.toISOString()}` : undefined };
}
