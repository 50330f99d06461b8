import { X509Certificate } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

/** A certificate and its private key, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

export interface CertificateSource {
  /** Returns it, and the authorities that the API servers should trust, PEM; absent: they get them from elsewhere. */
  current(signal: AbortSignal): Promise<{ certificate: KeyPair; authorities?: string | undefined }>;
}

/** The certificates that the processes of a deployment share in one Secret. */
export interface Certificates {
  /**
   * The authorities that the API servers trust, the oldest first. A later one is published before it signs, and an earlier
   * one as long as it is valid, because some process may still serve a certificate signed by it.
   */
  authorities: KeyPair[];
  serving: KeyPair;
}

/** Returns the authorities that the API servers should trust. */
export function caBundle({ authorities }: Certificates): string {
  return authorities.map(({ cert }) => cert).join('');
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
  const present = (certificates?.authorities ?? []).filter(({ cert }) => validityOf(cert, now).isValid);
  const left = ({ cert }: KeyPair) => timeLeft(new X509Certificate(cert), now);
  const isNextDue = present.every((authority) => left(authority) <= NEXT_BEFORE_MS);
  const authorities = isNextDue ? [...present, await (await issuing()).issueAuthority(now)] : present;
  const takesOver = (next: KeyPair, from: KeyPair) => left(from) <= TAKE_OVER_BEFORE_MS && isSettled(next, now);
  const signer = authorities.reduce((from, next) => (takesOver(next, from) ? next : from));
  const isDue = certificates === undefined || isServingDue(certificates.serving, signer, hosts, now);
  if (!isDue && !isNextDue && present.length === certificates.authorities.length) return certificates;
  if (!isDue) return { authorities, serving: certificates.serving };
  const { issueServing } = await issuing();
  return { authorities, serving: await issueServing(signer, namesFor(certificates, hosts), now) };
}

/** Returns the names for a new serving certificate: the API servers may call other processes by other names. */
function namesFor(certificates: Certificates | undefined, hosts: readonly string[]): string[] {
  const present = certificates === undefined ? [] : namesOf(new X509Certificate(certificates.serving.cert));
  const areCovered = hosts.every((host) => present.includes(host));
  // A name that is no longer configured is dropped at the next renewal.
  return [...new Set(areCovered ? hosts : [...hosts, ...present])];
}

function isServingDue(one: KeyPair, signer: KeyPair, hosts: readonly string[], now: Date): boolean {
  const [serving, authority] = [new X509Certificate(one.cert), new X509Certificate(signer.cert)];
  const names = namesOf(serving);
  // One from the future was issued by a wrong clock: clocks differ by less than certificates are backdated.
  const isUsable = serving.verify(authority.publicKey) && Date.parse(serving.validFrom) <= now.getTime();
  if (!isUsable || !hosts.every((host) => names.includes(host))) return true;
  // One that ends with its authority cannot last longer.
  const canLast = Date.parse(serving.validTo) < Date.parse(authority.validTo);
  return timeLeft(serving, now) <= RENEW_SERVING_BEFORE_MS && canLast;
}

function isSettled({ cert }: KeyPair, now: Date): boolean {
  const issuedAt = Date.parse(new X509Certificate(cert).validFrom) + BACKDATED_MS;
  return now.getTime() - issuedAt >= SETTLED_MS;
}

function timeLeft(certificate: X509Certificate, now: Date): number {
  return Date.parse(certificate.validTo) - now.getTime();
}

/** Returns the names in `DNS:a.example, IP Address:127.0.0.1`, normalized by `hostOf`. */
function namesOf({ subjectAltName }: X509Certificate): string[] {
  const names = (subjectAltName ?? '').split(', ').map((name) => hostOf(name.replace(/^(DNS|IP Address):/, '')));
  return names.filter((name) => name !== undefined);
}

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Normalizes a name or address, as certificates have it and for comparisons. Returns undefined for anything else. */
export function hostOf(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (isIPv6(text)) return addressOf(text);
  // These characters would be read as parts of a URL.
  if (/[\s/?#@:%\\]/.test(text)) return undefined;
  const name = domainToASCII(text).replace(/\.$/, '');
  const labels = name.split('.');
  // A name that ends with a number is a malformed address.
  const isName = labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '');
  return isName && name.length <= 253 ? name : undefined;
}

/** Shortens an IPv6 address, because certificates show all eight groups. An address with a zone is not valid here. */
function addressOf(text: string): string | undefined {
  const url = `http://[${text}]`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : undefined;
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
