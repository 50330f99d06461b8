import { X509Certificate } from 'node:crypto';
import { hostOf } from './hosts.ts';

/** A certificate and its private key, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** All that the processes of a deployment share: one Secret. */
export interface Certificates {
  /** Signs the serving certificate. */
  authority: KeyPair;
  /** Signs the next one; the API servers learn to trust it before. */
  next?: KeyPair | undefined;
  /** The certificate of the authority before, which some process may still serve with. */
  former?: string | undefined;
  serving: KeyPair;
}

/** What the API servers are told to trust. */
export function caBundle({ authority, next, former }: Certificates): string {
  return [authority.cert, next?.cert, former].filter((cert) => cert !== undefined).join('');
}

/** Which certificates have to be made now; all of them when `all`. */
export interface Due {
  all: boolean;
  next: boolean;
  /** `next` takes over, and a serving certificate of its own comes along. */
  takeOver: boolean;
  /** The former authority has expired. */
  forget: boolean;
  serving: boolean;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** How long they last (facts/gardener.md 6: 30 days), from `now`. */
export const AUTHORITY_MS = 30 * DAY;
export const SERVING_MS = 10 * DAY;

/** Clocks differ: a certificate is valid from some time before it is made. */
export const BACKDATED_MS = HOUR;

/** A new authority is made so long before the end of the old one, and takes over so long before it. */
const NEXT_BEFORE_MS = 10 * DAY;
const TAKE_OVER_BEFORE_MS = 5 * DAY;

/** What was published so long ago is known to every API server and in use by every process. */
const SETTLED_MS = HOUR;

const RENEW_SERVING_BEFORE_MS = 5 * DAY;

const nothing: Due = { all: false, next: false, takeOver: false, forget: false, serving: false };

/**
 * What is due for these certificates; undefined stands for none, or such that nobody can read.
 * @param hosts as `hostOf` gives them
 */
export function due(certificates: Certificates | undefined, hosts: readonly string[], now: Date): Due {
  if (certificates === undefined) return { ...nothing, all: true };
  const authority = new X509Certificate(certificates.authority.cert);
  const left = timeLeft(authority, now);
  if (left <= 0 || isFromFuture(authority, now)) return { ...nothing, all: true };
  const takeOver = left <= TAKE_OVER_BEFORE_MS && isSettled(certificates.next, now);
  return {
    all: false,
    next: left <= NEXT_BEFORE_MS && certificates.next === undefined,
    takeOver,
    forget: certificates.former !== undefined && timeLeft(new X509Certificate(certificates.former), now) <= 0,
    serving: !takeOver && isServingDue(new X509Certificate(certificates.serving.cert), authority, hosts, now),
  };
}

/** The names that a new serving certificate gets: other processes of the deployment may be called by other names. */
export function namesFor(certificates: Certificates | undefined, hosts: readonly string[]): string[] {
  const present = certificates === undefined ? [] : namesOf(new X509Certificate(certificates.serving.cert));
  const areCovered = hosts.every((host) => present.includes(host));
  // A name that nobody asks for any more leaves with the next renewal.
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
  // One that ends with its authority cannot be made longer.
  const canLast = Date.parse(serving.validTo) < Date.parse(authority.validTo);
  return timeLeft(serving, now) <= RENEW_SERVING_BEFORE_MS && canLast;
}

function isSettled(next: KeyPair | undefined, now: Date): boolean {
  if (next === undefined) return false;
  const madeAt = Date.parse(new X509Certificate(next.cert).validFrom) + BACKDATED_MS;
  return now.getTime() - madeAt >= SETTLED_MS;
}

/** Clocks do not differ by more than is backdated, so this one was made by a clock that was wrong. */
function isFromFuture({ validFrom }: X509Certificate, now: Date): boolean {
  return Date.parse(validFrom) > now.getTime();
}

function timeLeft(certificate: X509Certificate, now: Date): number {
  return Date.parse(certificate.validTo) - now.getTime();
}

/** `DNS:a.example, IP Address:127.0.0.1`, in the form that hosts are compared in. */
function namesOf({ subjectAltName }: X509Certificate): string[] {
  const names = (subjectAltName ?? '').split(', ').map((name) => hostOf(name.replace(/^(DNS|IP Address):/, '')));
  return names.filter((name) => name !== undefined);
}
