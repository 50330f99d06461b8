import semver from 'semver';
import { isAllowedVersion, isVersionRange } from '../config/checks.ts';
import type { Place } from '../config/origins.ts';
import { quote } from '../config/quote.ts';
import { ConfigError } from '../errors.ts';

/** Returns a negative number when `one` is older. A name that is not a version is older than every version. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [semver.valid(one), semver.valid(other)];
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return semver.compare(a, b);
}

/**
 * Returns the oldest Kubernetes that a release supports, for example `1.34`. Every release from 2.3 to 2.9 supports three
 * Kubernetes minors, of which the oldest is its own minor plus 25 (2.9: 1.34 to 1.36).
 */
export function oldestKubernetes(version: string): string | undefined {
  const flux = semver.parse(version);
  return flux?.major === 2 ? `1.${flux.minor + 25}` : undefined;
}

/** There is no upper bound: for a Kubernetes newer than all releases, the newest release is still the best choice. */
function supports(version: string, kubernetesVersion: string | undefined): boolean {
  const minor = /^v?1\.(\d+)/.exec(kubernetesVersion ?? '')?.[1];
  const oldest = oldestKubernetes(version)?.slice(2);
  return minor === undefined || oldest === undefined || Number(minor) >= Number(oldest);
}

/** The facts that decide which release is used. */
export interface VersionInputs {
  /** A release (`v2.9.4`, `2.9.4`), a range (`2.9.x`, `>=2.8 <2.10`), or absent: the newest for the Shoot's Kubernetes. */
  requested?: string | undefined;
  /** Where the user sets the version. */
  origin: Place;
  /** The versions of the distribution, in any order. */
  available: readonly string[];
  /** The Shoot's `spec.kubernetes.version`; absent: unknown, so every release counts as supported. */
  kubernetesVersion?: string | undefined;
  /** The release that is installed or recorded. */
  pinned?: string | undefined;
  /** False: a newer release in the distribution is not a reason to upgrade. */
  mayUpgrade: boolean;
  /** `allowedVersions` of the landscape's policy; absent: all are allowed. */
  allowed?: readonly string[] | undefined;
}

/**
 * Returns the release to use, as the distribution names it. The pinned release stays unless it no longer matches the
 * requested version, has left the distribution or is no longer allowed; with `mayUpgrade` the newest match wins. Never
 * downgrades. A version that the user has set is used even if Flux does not support the Shoot's Kubernetes.
 * @throws ConfigError with the available versions, and the rule of the policy if it excludes some of them
 */
export function resolveVersion(inputs: VersionInputs): string {
  const { requested, kubernetesVersion, pinned, mayUpgrade, allowed } = inputs;
  const all = inputs.available
    .filter((version) => semver.valid(version) !== null)
    .sort((one, other) => compareVersions(other, one));
  const versions = allowed === undefined ? all : all.filter((version) => isAllowedVersion(version, allowed));
  const rule = versions.length < all.length ? 'allowedVersions' : undefined;
  const fail = (message: string): never => {
    const which = rule === undefined ? availableText(versions) : allowedText(versions, rule);
    throw new ConfigError([{ ...inputs.origin, message: `${message}; ${which}`, ...(rule && { rule }) }]);
  };

  const matching = versions.filter(
    filterOf(requested) ?? (() => fail(`${quote(requested ?? '')} is neither a release nor a range`)),
  );
  if (matching.length === 0)
    fail(
      requested === undefined
        ? 'cannot be resolved, because no stable Flux release is available'
        : `${quote(requested)} matches no Flux release`,
    );
  const current = pinned && matching.find((version) => compareVersions(version, pinned) === 0);
  if (current && !mayUpgrade) return current;

  const supported = matching.filter((version) => supports(version, kubernetesVersion));
  const candidates = supported.length > 0 || requested === undefined ? supported : matching;
  const best = candidates.find((version) => pinned === undefined || compareVersions(version, pinned) >= 0) ?? current;
  if (best) return best;
  if (candidates.length === 0) {
    return fail(
      `cannot be resolved, because no available Flux release supports Kubernetes ${kubernetesVersion}; set it to use one anyway`,
    );
  }
  return fail(
    `resolves to an older release than the installed Flux ${pinned}, which is never downgraded; use this release or a newer one`,
  );
}

/** Returns the filter for the requested version. */
function filterOf(requested: string | undefined): ((version: string) => boolean) | undefined {
  if (requested === undefined) return (version) => semver.prerelease(version) === null;
  if (semver.valid(requested) !== null) return (version) => compareVersions(version, requested) === 0;
  return isVersionRange(requested) ? (version) => semver.satisfies(version, requested) : undefined;
}

function availableText(versions: readonly string[]): string {
  return versions.length === 0 ? 'the distribution is empty' : `available releases are ${versions.join(', ')}`;
}

function allowedText(versions: readonly string[], rule: string): string {
  const which = versions.length === 0 ? 'no available release is' : `only ${versions.join(', ')} are`;
  return `${which} allowed by ${rule} in the policy of this landscape`;
}
