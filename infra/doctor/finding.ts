import { ForbiddenError } from '../../shared/kube/errors.ts';
import type { HttpKubeClient } from '../../shared/kube/http-client.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { CertificateSecret } from '../webhooks/managed-certificates.ts';
import type { ServedShoot } from './seeds.ts';

/** Good, bad, or not known: it could not be seen, or it will be bad soon. */
export type Verdict = '✔' | '✗' | '!';

/** What one check says of one place. */
export interface Finding {
  verdict: Verdict;
  /** Whole, with the object, the place and for anything but `✔` what is wrong. */
  sentence: string;
  /** A command that mends it, or shows more. */
  remedy?: string | undefined;
}

/** A finding with where it belongs, as `doctor` prints it. */
export interface Item extends Finding {
  /** `garden`, the name of a seed, `distribution` or `process`. */
  place: string;
  check: string;
}

/** A cluster that answers. */
export interface Patient {
  /** `garden` or the name of a seed. */
  name: string;
  place: 'garden' | 'seed';
  /** With which kubectl reaches it. */
  flags: readonly string[];
  kube: HttpKubeClient;
  /** The user of the credentials; empty where the API server does not tell. */
  user: string;
}

/** What is known about a deployment before it is examined. */
export interface Deployment {
  /** Name of its webhook configurations. */
  configuration: string;
  /** Where the certificates of its webhooks are; undefined: it is not known whether it serves any. */
  certificates: CertificateSecret | undefined;
  /** Seed -> namespace of the heartbeat. */
  heartbeat: Readonly<Record<string, string>>;
  seeds: readonly string[];
  /** Those with the extension; none where the garden does not answer. */
  shoots: Promise<ServedShoot[]>;
  now: Date;
}

export const good = (sentence: string): Finding => ({ verdict: '✔', sentence });
export const bad = (sentence: string, remedy?: string): Finding => ({ verdict: '✗', sentence, remedy });
export const unknown = (sentence: string, remedy?: string): Finding => ({ verdict: '!', sentence, remedy });

/** Runs the checks of a place. What one cannot see is a finding, never an error. */
export async function examined<About extends unknown[]>(
  place: string,
  checks: Record<string, (...about: About) => Promise<Finding | Finding[]>>,
  ...about: About
): Promise<Item[]> {
  const found = Object.entries(checks).map(async ([check, examine]) => {
    const findings = await examine(...about).catch(unseen);
    return [findings].flat().map((finding) => ({ place, check, ...finding }));
  });
  return (await Promise.all(found)).flat();
}

function unseen(error: unknown): Finding {
  const text = describeError(error);
  if (!(error instanceof ForbiddenError)) return unknown(`Not checked, because it could not be read: ${text}`);
  return unknown(
    `Not checked, because ${text.replace(/^.* is forbidden: User/, 'user')}; use the credentials of an operator`,
  );
}
