import semver from 'semver';
import { isAllowedVersion, isVersionRange } from '../config/checks.ts';
import type { Place } from '../config/origins.ts';
import type { Policy, Rule } from '../config/policy/policy.ts';
import { quote } from '../config/quote.ts';
import { ConfigError, type ConfigIssue } from '../errors.ts';
import { noticesOf, oldestKubernetes, supportedMinors, unsupportedAs } from './support.ts';

/** Returns a negative number when `one` is older. A name that is not a version is older than every version. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [semver.valid(one), semver.valid(other)];
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return semver.compare(a, b);
}

/** The facts that decide which release is used. */
export interface VersionInputs {
  /** A release (`v2.9.4`, `2.9.4`), a range (`2.9.x`, `>=2.8 <2.10`), or absent: the newest for the Shoot's Kubernetes. */
  requested?: string | undefined;
  /** Where the user sets the version. */
  origin: Place;
  /** The versions of the distribution, newest first. */
  available: readonly string[];
  /** The Shoot's `spec.kubernetes.version`; absent: unknown, so every release counts as supported. */
  kubernetesVersion?: string | undefined;
  /** The release that is installed or recorded. */
  pinned?: string | undefined;
  /** False: a newer release in the distribution is not a reason to upgrade. */
  mayUpgrade: boolean;
  /** True: the release is not installed now, so that the user may still ask for an older one. */
  isTrial?: boolean | undefined;
  /** The landscape's policy; absent: all releases are allowed. */
  policy?: Pick<Policy, 'allowedVersions' | 'requireSupportedKubernetes'> | undefined;
}

/** The release to use. */
export interface ResolvedVersion {
  /** As the distribution names it. */
  version: string;
  /** Where it does not support the Shoot's Kubernetes, and where it lacks fixes that no next operation brings. */
  warnings?: ConfigIssue[] | undefined;
}

/**
 * Returns the release to use. The pinned release stays unless it no longer matches the requested version, has left the
 * distribution or is no longer allowed; with `mayUpgrade` the newest match wins. Never downgrades. A version that the user
 * has set is used even if Flux does not support the Shoot's Kubernetes, with a warning, unless the policy requires that.
 * One that lacks fixes gets a warning, too.
 * @throws ConfigError with the available versions, and the rule of the policy if it excludes some of them
 */
export function resolveVersion(inputs: VersionInputs): ResolvedVersion {
  const version = choose(inputs);
  const problem = kubernetesProblem(version, inputs);
  if (problem !== undefined && isSupportRequired(inputs)) {
    const rule: Rule = 'requireSupportedKubernetes';
    const message = `${problem.what}, which is not allowed by ${rule} in the policy of this landscape; ${problem.remedy}`;
    throw new ConfigError([{ ...inputs.origin, message, rule }]);
  }
  const problems = [problem, fixesProblem(inputs)].filter((one) => one !== undefined);
  const warnings = problems.map(({ what, remedy }) => ({ ...inputs.origin, message: `${what}; ${remedy}` }));
  return { version, ...(warnings.length > 0 && { warnings }) };
}

const isSupportRequired = ({ policy }: VersionInputs) => policy?.requireSupportedKubernetes === true;

/** Returns the versions of the distribution that the policy allows, newest first, and the rule if it excludes some. */
function allowedOf({ available, policy }: VersionInputs): { versions: string[]; rule?: Rule | undefined } {
  const allowed = policy?.allowedVersions;
  const versions = available.filter((version) => allowed === undefined || isAllowedVersion(version, allowed));
  return { versions, ...(versions.length < available.length && { rule: 'allowedVersions' }) };
}

function choose(inputs: VersionInputs): string {
  const { requested, kubernetesVersion, pinned, mayUpgrade } = inputs;
  const { versions, rule } = allowedOf(inputs);
  const fail = (message: string): never => {
    const found = { ...inputs.origin, message: `${message}; ${choiceOf(versions, rule)}` };
    throw new ConfigError([{ ...found, ...(rule && { rule }) }]);
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
  const mayStay = current && !(isSupportRequired(inputs) && unsupportedAs(current, kubernetesVersion));
  if (current && mayStay && !mayUpgrade) return current;

  // For a Kubernetes newer than all releases, the newest release is still the best choice.
  const supported = matching.filter((version) => unsupportedAs(version, kubernetesVersion) !== 'old');
  const candidates = supported.length > 0 || requested === undefined ? supported : matching;
  const best = candidates.find((version) => pinned === undefined || compareVersions(version, pinned) >= 0) ?? current;
  if (best) return best;
  if (candidates.length === 0) {
    const oldest = oldestKubernetes(matching.at(-1) ?? '');
    const anyway = isSupportRequired(inputs) ? '' : ', or set it to use one anyway';
    return fail(
      `cannot be resolved, because no available Flux release supports Kubernetes ${kubernetesVersion}; upgrade the Shoot to Kubernetes ${oldest}${anyway}`,
    );
  }
  return fail(
    `resolves to an older release than the installed Flux ${pinned}, which is never downgraded; use this release or a newer one`,
  );
}

/** Both halves of a sentence about a release. */
interface Problem {
  what: string;
  remedy: string;
}

/** Returns what to say of a release that does not support the Shoot's Kubernetes. */
function kubernetesProblem(version: string, inputs: VersionInputs): Problem | undefined {
  const { kubernetesVersion, pinned, isTrial } = inputs;
  const [minors, unsupported] = [supportedMinors(version), unsupportedAs(version, kubernetesVersion)];
  if (minors === undefined || unsupported === undefined) return undefined;
  // What is installed now cannot be replaced by an older release later.
  const installed = isTrial === true || isSupportRequired(inputs) ? pinned : version;
  const other = allowedOf(inputs).versions.find(
    (one) =>
      semver.prerelease(one) === null &&
      unsupportedAs(one, kubernetesVersion) === undefined &&
      (installed === undefined || compareVersions(one, installed) >= 0),
  );
  const upgrade = unsupported === 'old' ? `upgrade the Shoot to Kubernetes 1.${minors.oldest}` : undefined;
  const unless = unsupported === 'old' ? ' unless a newer one is installed' : '';
  const remedies = [upgrade, other && `use Flux ${other}${unless}`].filter((remedy) => remedy !== undefined);
  return {
    what: `resolves to Flux ${version}, which supports Kubernetes 1.${minors.oldest} to 1.${minors.newest}, but the Shoot has ${kubernetesVersion}`,
    remedy: remedies.join(', or ') || 'ask the operators of the landscape for a Flux release that supports it',
  };
}

/**
 * Returns what to say where the release lacks fixes also after the next operation, which brings what the requested version
 * allows. What the policy excludes is no news for users: they cannot choose it.
 */
function fixesProblem(inputs: VersionInputs): Problem | undefined {
  const version = choose({ ...inputs, mayUpgrade: true });
  const { versions } = allowedOf(inputs);
  const { patch, minor } = noticesOf(version, versions);
  if (patch !== undefined) {
    const range = `${semver.major(patch)}.${semver.minor(patch)}.x`;
    return {
      what: `resolves to Flux ${version}, which lacks the fixes of ${patch}`,
      remedy: `use ${patch}, or the range ${range}`,
    };
  }
  if (minor === undefined) return undefined;
  const maintained = versions.filter(
    (one) => semver.prerelease(one) === null && noticesOf(one, versions).minor === undefined,
  );
  const usable = maintained.find((one) => unsupportedAs(one, inputs.kubernetesVersion) !== 'old');
  const oldest = maintained.at(-1) ?? minor;
  return {
    what: `resolves to Flux ${version}, whose minor version is no longer maintained`,
    remedy: usable
      ? `use Flux ${usable}`
      : `upgrade the Shoot to Kubernetes ${oldestKubernetes(oldest)}, for Flux ${oldest}`,
  };
}

/** Returns the filter for the requested version. */
function filterOf(requested: string | undefined): ((version: string) => boolean) | undefined {
  if (requested === undefined) return (version) => semver.prerelease(version) === null;
  if (semver.valid(requested) !== null) return (version) => compareVersions(version, requested) === 0;
  return isVersionRange(requested) ? (version) => semver.satisfies(version, requested) : undefined;
}

/** Returns which releases a user can choose from. */
function choiceOf(versions: readonly string[], rule: Rule | undefined): string {
  const all = versions.join(', ');
  if (rule === undefined) return all === '' ? 'the distribution is empty' : `available releases are ${all}`;
  const which = all === '' ? 'no available release is' : `only ${all} are`;
  return `${which} allowed by ${rule} in the policy of this landscape`;
}
