import { posix } from 'node:path';
import semver from 'semver';
import { KUBERNETES_NAMESPACES } from '../kube/resource.ts';
import { fromScpForm, meantSentence, meantUrl, NAMED, withPort } from './git-url.ts';
import { limits } from './limits.ts';
import { misspelt } from './nearest.ts';
import { quote, shown, truncate, withoutCredentials } from './quote.ts';

/** Returns what is wrong with a string and how to fix it, in one sentence; undefined for a valid string. */
export type Check = (text: string) => string | undefined;

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Checks the name of a Namespace (RFC 1123 label). */
export const namespaceName: Check = (text) =>
  text.length <= 63 && LABEL.test(text)
    ? undefined
    : `${quote(text)} is not a valid namespace name; use at most 63 lowercase letters, digits and '-', starting and ending with a letter or digit`;

/** Checks the name of an object (RFC 1123 subdomain). */
export const objectName: Check = (text) =>
  text.length <= 253 && SUBDOMAIN.test(text)
    ? undefined
    : `${quote(text)} is not a valid object name; use at most 253 lowercase letters, digits, '-' and '.', where each part between dots starts and ends with a letter or digit`;

/** Checks the name of a Kustomization: its controller uses it as a label value, which has at most 63 characters. */
export const kustomizationName: Check = (text) =>
  objectName(text) ??
  (text.length > 63
    ? `${quote(text)} is too long for the name of a Kustomization, because Flux uses it in labels; use at most 63 characters`
    : undefined);

/** Checks the flux namespace: Flux's NetworkPolicies and ResourceQuota would apply to everything else in it. */
export const fluxNamespace: Check = (text) =>
  KUBERNETES_NAMESPACES.includes(text)
    ? `${quote(text)} is a namespace of Kubernetes itself, where Flux's NetworkPolicies would cut off other pods; use another one, for example flux-system`
    : namespaceName(text);

const DURATION = /^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/;
const TIMEOUT = /^([0-9]+(\.[0-9]+)?(ms|s|m))+$/;

/** Go counts durations in nanoseconds as int64; one object with a longer duration stops its controller for all objects. */
const MAX_HOURS = 2_562_047;
const HOURS: Record<string, number> = { h: 1, m: 1 / 60, s: 1 / 3600, ms: 1 / 3_600_000 };

/** Checks a duration as Flux's CRDs accept it and its controllers can read it. */
export const duration: Check = (text) => {
  if (text.startsWith('-') && DURATION.test(text.slice(1))) {
    return `${quote(text)} is negative; use a duration without a sign, for example 1m`;
  }
  if (!DURATION.test(text)) {
    return `${quote(text)} is not a duration; use numbers with the units h, m, s or ms, for example 5m or 1h30m`;
  }
  return hours(text) > MAX_HOURS
    ? `${quote(text)} exceeds the longest duration that Flux supports; use a shorter one, for example 24h`
    : undefined;
};

function hours(text: string): number {
  const parts = [...text.matchAll(/([0-9.]+)(ms|s|m|h)/g)];
  return parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (HOURS[unit] ?? 0), 0);
}

/** Returns the seconds of a duration. */
export const secondsIn = (text: string): number => Math.round(hours(text) * 3600);

/** Checks a duration that has to be longer than zero: Flux never repeats, or fails at once, what has none. */
export const positiveDuration: Check = (text) =>
  duration(text) ?? (isZero(text) ? `${quote(text)} is zero; use a longer duration, for example 1m` : undefined);

/** Checks the timeout of a source, for which Flux's CRDs accept no hours. */
export const sourceTimeout: Check = (text) =>
  TIMEOUT.test(text)
    ? positiveDuration(text)
    : `${quote(text)} is not a valid timeout for a source; use numbers with the units m, s or ms, for example 60s`;

/** Returns true for a duration of zero, which Go programs write for an absent duration. */
export function isZero(text: string): boolean {
  return DURATION.test(text) && !/[1-9]/.test(text);
}

const EXACT = /^v?(\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?)$/;
const RANGE = /^v?(\d+(\.\d+)?\.x)$/;

/** A range without a number, or with one after `x`, which is ignored. */
const UNCLEAR_RANGE = /(^|[\s,|<>=~^!v])[xX*]|[xX*]\.\d/;

/** Checks a Flux version: a release, a range of releases, or `latest`. */
export const fluxVersion: Check = (text) => {
  if (/^v?[01](\.[\dxX*]|$)/.test(text)) {
    return `${quote(text)} is a Flux version before 2.0, which is not supported; use a release such as v2.9.4 or a range such as 2.x, or omit it for the newest release`;
  }
  if (EXACT.test(text) || text === 'latest') return undefined;
  return UNCLEAR_RANGE.test(text) || !isVersionRange(text)
    ? `${quote(text)} is not a Flux version; use a release such as v2.9.4 or a range such as 2.9.x, or omit it for the newest release`
    : rangeProblem(text);
};

/** Returns the canonical form of a valid version: `v2.9.4`, `latest`, or a range such as `2.9.x` or `>=2.8 <2.10`. */
export function normalVersion(text: string): string {
  const exact = EXACT.exec(text)?.[1];
  return exact === undefined ? (RANGE.exec(text)?.[1] ?? text.trim().replace(/\s+/g, ' ')) : `v${exact}`;
}

const REGISTRY = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;

/** Checks the prefix of the controllers' images. */
export const registry: Check = (text) => {
  if (text.includes('://')) return `${quote(text)} has a scheme; remove it, as in ghcr.io/fluxcd`;
  if (text.endsWith('/')) return `${quote(text)} ends with a slash; remove it, as in ghcr.io/fluxcd`;
  return REGISTRY.test(text)
    ? undefined
    : `${quote(text)} is not a valid image prefix; use a registry and a path, for example ghcr.io/fluxcd`;
};

/** The components of a Flux release, in the order in which `flux install` names them. */
const COMPONENTS = [
  'source-controller',
  'kustomize-controller',
  'helm-controller',
  'notification-controller',
  'image-reflector-controller',
  'image-automation-controller',
  'source-watcher',
];

/**
 * Checks the name of a component. Only the release knows which components it has, so an unknown name is accepted here,
 * but a misspelt one is not.
 */
export const component: Check = (text) => {
  if (text.length > 63 || !LABEL.test(text))
    return `${quote(text)} is not a component of Flux; the components are ${COMPONENTS.join(', ')}`;
  const suggestion = misspelt(text, COMPONENTS);
  return suggestion && `${quote(text)} is not a component of Flux; did you mean ${suggestion}?`;
};

/** Checks the name of a variable of Flux. */
export const variableName: Check = (text) =>
  /^[_a-zA-Z]\w*$/.test(text)
    ? undefined
    : `${quote(text)} is not a valid variable name; use letters, digits and '_', not starting with a digit`;

/** Checks the cluster's DNS domain. */
export const clusterDomain: Check = (text) =>
  text.length <= 253 && SUBDOMAIN.test(text)
    ? undefined
    : `${quote(text)} is not a valid DNS domain; use a form like cluster.local`;

const QUALIFIED = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
/** A DNS subdomain, a slash and a name; a toleration is written into every Deployment. */
const isQualified = (text: string) => text.length <= 253 + 1 + 63 && QUALIFIED.test(text);

const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Checks the key of a label or annotation. */
export const metadataKey: Check = (text) =>
  isQualified(text)
    ? undefined
    : `${quote(text)} is not a valid label or annotation key; use a form like example.com/team`;

/** Checks the value of a label. */
export const labelValue: Check = (text) =>
  LABEL_VALUE.test(text)
    ? undefined
    : `${quote(text)} is not a valid label value; use at most 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit`;

/** Checks the key of a taint. */
export const tolerationKey: Check = (text) =>
  isQualified(text)
    ? undefined
    : `${quote(text)} is not a valid taint key; use a form like node-role.kubernetes.io/infra`;

// The names that git check-ref-format rejects: https://git-scm.com/docs/git-check-ref-format
// biome-ignore lint/suspicious/noControlCharactersInRegex: Git rejects control characters in names
const BAD_REF = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[/-]|[/.]$|(^|\/)\.|\.lock(\/|$)/;

const FIELDS: Readonly<Record<string, string>> = { heads: 'branch', tags: 'tag' };

/** Flux puts `refs/heads/` in front of a branch, and `refs/tags/` in front of a tag. */
function refProblem(text: string, field: 'branch' | 'tag'): string | undefined {
  const [, kind = '', name] = /^refs\/(heads|tags)\/(.+)$/.exec(text) ?? [];
  if (name !== undefined) {
    const meant = FIELDS[kind] === field ? '' : `the ${FIELDS[kind]} `;
    return `${quote(text)} is a full ref name; use ${meant}${shown(name)}`;
  }
  if (text.startsWith('refs/'))
    return `${quote(text)} is neither a branch nor a tag; write it as spec.ref.name of a source's template`;
  if (/^[<>=^~]|\*/.test(text) && isRangeOfFlux(text)) {
    return `${quote(text)} is a range of versions; use semver instead of ${field}`;
  }
  return BAD_REF.test(text)
    ? `${quote(text)} is not a valid Git ref name; use the branch or tag as Git shows it`
    : undefined;
}

/** Checks the name of a branch. */
export const gitBranch: Check = (text) => refProblem(text, 'branch');

/** Checks the name of a tag. */
export const gitTag: Check = (text) => refProblem(text, 'tag');

/** Checks the full name of a ref, which Flux looks for among those that the server lists. */
export const gitRefName: Check = (text) => {
  if (text === 'HEAD' || text.startsWith('refs/')) return undefined;
  const meant = /^(?:heads|tags|pull|merge-requests|changes)\//.test(text) ? `refs/${text}` : `refs/heads/${text}`;
  return `${quote(text)} is not the full name of a ref; use a form like ${shown(meant)}`;
};

/** Checks a full commit ID: Flux does not resolve abbreviated ones. */
export const gitCommit: Check = (text) =>
  /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(text)
    ? undefined
    : `${quote(text)} is not a full commit ID; use all 40 digits, as git rev-parse HEAD prints them`;

const ORIGIN = /^(?:remotes\/)?(?:origin|upstream)\/(.+)$/;

/** Returns the warning about a branch of a clone: a branch may have such a name, but it is hardly meant. */
export const branchWarning: Check = (text) => {
  const name = ORIGIN.exec(text)?.[1];
  return (
    name && `${quote(text)} is the name of a branch in a clone; write ${shown(name)} if that is its name on the server`
  );
};

/** Checks the folder of a Kustomization, in which the controller looks for a Kustomization of kustomize. */
export const kustomizationPath: Check = (text) => {
  if (text.includes('://'))
    return `${quote(text)} is a URL; use the folder in the repository, for example ./clusters/production`;
  if (text.includes('\\')) {
    const folder = text
      .replace(/^[A-Za-z]:/, '')
      .replaceAll('\\', '/')
      .replace(/^\.?\/+/, '');
    return `${quote(text)} contains a backslash; use ${shown(`./${folder}`)}`;
  }
  const [, folder] = /^(.*?)\/?(?<![^/])kustomization\.ya?ml$/.exec(text) ?? [];
  return folder === undefined ? undefined : `${quote(text)} is a file; use its folder, ${shown(folder || './')}`;
};

/** Returns the warning about a path outside of the repository, which Flux reads as one in it. */
export const pathWarning: Check = (text) => {
  const normal = posix.normalize(text.replace(/^\/+/, ''));
  const inside = normal.replace(/^(?:\.\.(?:\/|$))+/, '');
  return inside === normal
    ? undefined
    : `${quote(text)} leaves the repository, so Flux reads ${shown(`./${inside}`)}; write the path from its root`;
};

/** Checks a version range as Flux understands it: alternatives, each a list of comparisons that must all hold. */
export const semverRange: Check = (text) =>
  isRangeOfFlux(text) ? undefined : `${quote(text)} is not a version range; use a form like >=1.0.0 <2.0.0`;

/** Checks the tag of an OCI artifact. */
export const ociTag: Check = (text) => {
  if (TAG.test(text)) return undefined;
  if (/^@?sha\d+:/.test(text)) return `${quote(text)} is a digest; use digest instead of tag`;
  return isRangeOfFlux(text)
    ? `${quote(text)} is a range of versions; use semver instead of tag`
    : `${quote(text)} is not a valid tag; use at most 128 letters, digits, '_', '-' and '.', starting with a letter or digit`;
};

const TAG = /^\w[\w.-]{0,127}$/;

/** Checks the digest of an OCI artifact. */
export const ociDigest: Check = (text) => {
  if (/^[0-9a-f]{64}$/.test(text)) return `${quote(text)} lacks its algorithm; use sha256:${text}`;
  if (/^sha256:/.test(text) && !/^sha256:[0-9a-f]{64}$/.test(text)) {
    return `${quote(text)} is not a complete digest; use sha256: and all 64 digits, as the registry shows them`;
  }
  return /^[a-z0-9]+:[0-9a-f]+$/.test(text)
    ? undefined
    : `${quote(text)} is not a valid digest; use a form like sha256:6f1c...`;
};

/** Checks the URL of an OCI artifact. */
export const ociUrl: Check = (text) => {
  if (/^oci:\/\/[^/]*@/.test(text)) return CREDENTIALS;
  if (!text.startsWith('oci://')) {
    if (/^(?:https?|ssh):\/\/(?:[^/]*@)?(?:www\.)?(?:github|gitlab|bitbucket|codeberg)\.|\.git$/.test(text)) {
      return `${quote(text)} is a Git repository; use a source of kind GitRepository for it`;
    }
    const [, host] = /^(?:\w+:\/\/)?((?:[\w-]+\.)+[a-z]{2,}(?::\d+)?\/[\w./:-]+)$/.exec(text) ?? [];
    const meant = host === undefined ? '' : `, as in oci://${withoutRevision(host).name}`;
    return `${quote(text)} is not the URL of an OCI artifact; it must start with oci://${meant}`;
  }
  if (/\s/.test(text)) return `${quote(text)} contains whitespace; remove it`;
  const { name, tag, digest } = withoutRevision(text);
  const revision = digest ?? tag;
  if (!/^oci:\/\/[^/]+\/[^/]/.test(text) || text.endsWith('/')) {
    return `${quote(text)} names no repository; use a form like oci://ghcr.io/org/manifests`;
  }
  if (revision !== undefined) {
    const field = digest === undefined ? 'tag' : 'digest';
    const more = revision === '' ? '' : `, and ${shown(revision)} as spec.ref.${field}`;
    return `${quote(text)} contains a ${field}; use ${name}${more}`;
  }
  return /^oci:\/\/[^/]+\/[a-z0-9_./-]+$/.test(text)
    ? undefined
    : `${quote(text)} is not the URL of an OCI artifact; use lowercase letters for the repository, as in oci://ghcr.io/org/manifests`;
};

/** Separates tag and digest from the name of an image. */
function withoutRevision(image: string) {
  const [named = image, digest] = image.split('@');
  const [, name, tag] = /^(.*[^/]):([^/]*)$/.exec(named) ?? [];
  const isPort = name === undefined || /^\w+:\/?$/.test(name);
  return isPort ? { name: named, digest } : { name, tag, digest };
}

/** Checks the name of an image, as ImageRepositories have it. */
export const imageName: Check = (text) => {
  const { name, tag, digest } = withoutRevision(text.replace(/^\w+:\/\//, ''));
  const found = { 'a scheme': text.includes('://'), 'a tag': tag !== undefined, 'a digest': digest !== undefined };
  const surplus = Object.entries(found).flatMap(([what, isThere]) => (isThere ? [what] : []));
  if (surplus.length > 0) return `${quote(text)} has ${new Intl.ListFormat('en').format(surplus)}; use ${shown(name)}`;
  return /^[\w.:-]+(?:\/[a-z0-9_.-]+)*$/.test(text) && !/^[^/]*[A-Z][^/.:]*$/.test(text)
    ? undefined
    : `${quote(text)} is not the name of an image; use a form like ghcr.io/org/app`;
};

const CREDENTIALS = 'contains credentials, which anyone can read here; put them in a Secret instead';
const USER_NAME = 'has a user name or a token before the host; remove it here, and put it into a Secret as username';

/** The longest name in DNS. Lines of known_hosts are compared with the host letter by letter. */
const MAX_HOST_NAME = 253;

/** Checks the URL of a Git repository: Flux accepts http, https and ssh. */
export const gitUrl: Check = (text) => {
  const ssh = fromScpForm(text);
  const meant = meantUrl(ssh ?? text);
  if (meant.url === ssh) {
    const port = withPort(text);
    const other = port === undefined ? '' : `, or ${port} if the number is a port`;
    return `${quote(text)} is a form that Flux does not accept; use ${withoutCredentials(ssh)}${other}`;
  }
  if (meant.url === text) return plainUrlProblem(text);
  const problem = plainUrlProblem(meant.url);
  if (problem === undefined) return meantSentence(text, meant);
  // A sentence about a credential does not quote the URL.
  return problem.startsWith('"') ? plainUrlProblem(text) : problem;
};

function plainUrlProblem(text: string): string | undefined {
  if (text.startsWith('oci://')) return `${quote(text)} is an OCI artifact; use a source of kind OCIRepository for it`;
  if (!/^(https?|ssh):\/\//.test(text)) {
    return `${quote(text)} is not a URL that Flux can read; it must start with https://, http:// or ssh://`;
  }
  if (/\s/.test(text)) {
    const meant = withoutCredentials(meantUrl(text).url.replaceAll(/\s/g, '%20'));
    return `${quote(text)} contains a space; write %20 for it, as in ${truncate(meant)}`;
  }
  // Some programs read it as a slash, so they would see another host.
  if (text.includes('\\')) return `${quote(text)} contains a backslash; use only slashes`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '') {
    return `${quote(text)} is not a valid URL; use a form like ssh://git@github.com/org/repository`;
  }
  if (
    /^(?:www\.)?(?:github\.com|bitbucket\.org|codeberg\.org)$/.test(url.hostname) &&
    !/^\/+[^/]+\/+[^/]/.test(url.pathname)
  ) {
    return `${quote(text)} names no repository; use a form like https://github.com/org/repository`;
  }
  if (url.hostname.length > MAX_HOST_NAME) {
    return `${quote(text)} has a host name of more than ${MAX_HOST_NAME} characters; correct it`;
  }
  return userProblem(text, url);
}

function userProblem(text: string, { protocol, username, password }: URL): string | undefined {
  if (password !== '') return CREDENTIALS;
  if (protocol === 'ssh:' || username === '') return undefined;
  return NAMED.test(text) ? `has a user name; remove ${username}@ from it` : USER_NAME;
}

/** Returns true for a Git repository that is read over SSH. */
export function isSsh(url: string): boolean {
  return url.startsWith('ssh://');
}

/** Returns whether a text is a range in npm's language: `2.x`, `>=2.8 <2.10`, `~2.8`, `^2`, `2.6 - 2.8`, and `||` between. */
export function isVersionRange(text: string): boolean {
  return text.trim() !== '' && semver.validRange(text) !== null;
}

/** Returns the problem with a range that is too long to be compared with every release. */
function rangeProblem(range: string): string | undefined {
  const { most } = limits.comparisons;
  return new semver.Range(range).set.flat().length > most ? `has more than ${most} comparisons; use fewer` : undefined;
}

/**
 * Returns whether Flux reads a text as a range. Its library Masterminds/semver knows what npm does not: commas, `!=`, `=>`,
 * `=<`, and zeros in front, as in dates.
 */
export function isRangeOfFlux(text: string): boolean {
  const ofNpm = text
    .replaceAll(',', ' ')
    .replace(/!=\s*/g, '')
    .replace(/(?<!\d)0+(?=\d)/g, '')
    .replace(/=([<>])/g, '$1=');
  return isVersionRange(ofNpm);
}

/** Returns whether a release is in a list of releases and ranges, or a range has releases in common with it. */
export function isAllowedVersion(requested: string, allowed: readonly string[]): boolean {
  if (semver.valid(requested) !== null) return allowed.some((range) => semver.satisfies(requested, range));
  return isVersionRange(requested) && allowed.some((range) => semver.intersects(requested, range));
}

/**
 * Their labels and annotations say which objects belong to whom, and what is done with them. The last two are of Helm and
 * flux-operator: with their marks, our own Flux would count as that of another tool.
 */
const DOMAINS = ['gardener.cloud', 'fluxcd.io', 'kubernetes.io', 'k8s.io', 'meta.helm.sh', 'fluxcd.controlplane.io'];

/** True for a label or annotation in a domain of Gardener, Kubernetes, Flux or a tool that installs it. */
export function isReserved(key: string): boolean {
  return key.includes('/') && DOMAINS.some((domain) => isInDomain(key, domain));
}

/** True for a label or annotation in a domain of Gardener, whose components obey such keys. */
export function isReservedForGardener(key: string): boolean {
  return isInDomain(key, 'gardener.cloud');
}

function isInDomain(key: string, domain: string): boolean {
  const own = key.slice(0, Math.max(0, key.indexOf('/'))).toLowerCase();
  return own === domain || own.endsWith(`.${domain}`);
}
