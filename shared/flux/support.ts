import semver from 'semver';

/**
 * The Kubernetes minors that a release supports. Every release from 2.3 to 2.9 supports three, of which the oldest is its
 * own minor plus 25 (2.9: 1.34 to 1.36).
 */
export function supportedMinors(version: string): { oldest: number; newest: number } | undefined {
  const flux = semver.parse(version);
  return flux?.major === 2 ? { oldest: flux.minor + 25, newest: flux.minor + 27 } : undefined;
}

/** Returns the oldest Kubernetes that a release supports, for example `1.34`. */
export function oldestKubernetes(version: string): string | undefined {
  const minors = supportedMinors(version);
  return minors && `1.${minors.oldest}`;
}

/** Returns whether the Kubernetes is too old or too new for a release; undefined if it is neither, or not known. */
export function unsupportedAs(version: string, kubernetesVersion: string | undefined): 'old' | 'new' | undefined {
  const minor = /^v?1\.(\d+)/.exec(kubernetesVersion ?? '')?.[1];
  const minors = supportedMinors(version);
  if (minor === undefined || minors === undefined) return undefined;
  if (Number(minor) < minors.oldest) return 'old';
  return Number(minor) > minors.newest ? 'new' : undefined;
}

/** Flux maintains so many minor versions. */
const MAINTAINED_MINORS = 3;

/** What the releases of a distribution tell about the one of a Shoot; a reason that is absent does not apply. */
export interface Notices {
  /** The newest patch of its minor version, if that one is still maintained. */
  patch?: string;
  /** The newest release, which is so much newer that Flux no longer maintains the minor version of the Shoot's. */
  minor?: string;
  /** The Shoot's Kubernetes is too old or too new for it. */
  kubernetes?: 'old' | 'new';
}

/**
 * Returns why the Flux release of a Shoot should be replaced. A name that is not a version gets no notice.
 * @param releases those that are known, in any order; pre-releases count for nobody
 * @param kubernetes of the Shoot; undefined: it is not known
 */
export function noticesOf(version: string, releases: readonly string[], kubernetes?: string): Notices {
  const own = semver.parse(version);
  if (own === null) return {};
  const unsupported = unsupportedAs(version, kubernetes);
  return { ...missingFixes(own, releases), ...(unsupported && { kubernetes: unsupported }) };
}

function missingFixes(own: semver.SemVer, releases: readonly string[]): Pick<Notices, 'patch' | 'minor'> {
  const stable = releases.filter((one) => semver.valid(one) !== null && semver.prerelease(one) === null);
  const newer = semver.rsort(stable.filter((one) => semver.gt(one, own)));
  const [minor] = newer;
  if (minor === undefined) return {};
  const isMaintained = semver.major(minor) === own.major && semver.minor(minor) - own.minor < MAINTAINED_MINORS;
  if (!isMaintained) return { minor };
  const patch = newer.find((one) => semver.minor(one) === own.minor);
  return patch === undefined ? {} : { patch };
}
