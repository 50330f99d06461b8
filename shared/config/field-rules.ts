import type { ConfigIssue } from '../errors.ts';
import {
  branchWarning,
  type Check,
  duration,
  gitBranch,
  imageName,
  isSsh,
  isZero,
  ociTag,
  pathWarning,
  positiveDuration,
  semverRange,
  sourceTimeout,
} from './checks.ts';
import { isFluxConfigObject } from './flux-config-map.ts';
import { MOST_ISSUES_OF_A_PART } from './limits.ts';
import { nearest } from './nearest.ts';
import { inside, issueAt, type Place } from './origins.ts';
import { FLUX_REGISTRY, FLUX_SOURCE } from './project-config.ts';
import { quote, shown } from './quote.ts';
import { type Found, referenceProblems } from './references.ts';
import { pathText, unknownKey } from './schema.ts';
import type { SourceKind } from './templates.ts';
import { asObject, asString, type JsonObject, valueAt, valuesAt } from './values.ts';
import { revisions } from './variables.ts';

type Checks = Readonly<Record<string, Check>>;

/** Flux leaves out what is empty. */
const unlessEmpty =
  (check: Check): Check =>
  (text) =>
    text === '' ? undefined : check(text);
const checkout = Object.fromEntries(
  Object.entries(revisions.GitRepository).map(([name, check]) => [`git.checkout.ref.${name}`, unlessEmpty(check)]),
);

/**
 * Kind -> a field of its `spec` -> what its controller refuses. Templates of sources and Kustomizations have their checks in
 * `templates.ts`. Zero is refused where a controller would never repeat, or fail at once. A Kustomization makes 30 s of a
 * timeout of zero, an ImageRepository 1 s, and the interval of a Provider is not read.
 */
const checks: Readonly<Record<string, Checks>> = {
  HelmRepository: { interval: positiveDuration, timeout: sourceTimeout },
  HelmChart: { interval: positiveDuration },
  HelmRelease: {
    interval: positiveDuration,
    timeout: positiveDuration,
    'chart.spec.interval': positiveDuration,
    'test.timeout': positiveDuration,
    'install.strategy.retryInterval': positiveDuration,
    'upgrade.strategy.retryInterval': positiveDuration,
  },
  Receiver: { interval: positiveDuration },
  Provider: { interval: duration, timeout: sourceTimeout },
  ImageRepository: { interval: positiveDuration, timeout: duration, image: imageName },
  ImagePolicy: { interval: positiveDuration, 'policy.semver.range': semverRange },
  ImageUpdateAutomation: { interval: positiveDuration, 'git.push.branch': unlessEmpty(gitBranch), ...checkout },
};

/** Kind -> what its controller refuses of several fields. */
const rules: Readonly<Record<string, (spec: JsonObject) => Found[]>> = {
  Bucket: bucketProblems,
  HelmRepository: helmRepositoryProblems,
  HelmChart: (spec) => chartProblems(spec, ''),
  HelmRelease: (spec) => [
    ...chartProblems(asObject(valueAt(spec, 'chart.spec')) ?? {}, 'chart.spec.'),
    ...timeouts(spec),
  ],
  ImagePolicy: ({ policy }) =>
    asObject(policy) !== undefined && Object.keys(policy as object).length === 0
      ? [['policy', 'is empty; set one of semver, alphabetical, numerical']]
      : [],
  // Former API versions have its fields in `spec`, which is a sentence about the CRD.
  ImageUpdateAutomation: ({ git, checkout: former }) =>
    git === undefined && former === undefined
      ? [['git', 'is missing; set at least git.commit.author.email, with which Flux commits']]
      : [],
  Receiver: (spec) =>
    valuesAt(spec, 'resources[]').flatMap(([value, path]): Found[] => {
      const { name, matchLabels } = asObject(value) ?? {};
      if (name !== '*' || matchLabels !== undefined) return [];
      return [[path, 'has the name *, which needs matchLabels; set them, or write the name of the object']];
    }),
  Provider: providerProblems,
};

/** What Flux accepts, and what is hardly meant. */
const warnings: Readonly<Record<string, Checks>> = {
  GitRepository: { 'ref.branch': branchWarning },
  Kustomization: { path: pathWarning },
  ImageUpdateAutomation: { 'git.checkout.ref.branch': branchWarning, 'git.push.branch': branchWarning },
};

/**
 * Returns the issues that the controller of a kind would have with an object, and that no CRD has.
 * @param place where its `spec` is
 */
export function fieldIssues(kind: string, spec: JsonObject, place: Place): ConfigIssue[] {
  const found = [...checked(checks[kind], spec), ...(rules[kind]?.(spec) ?? []), ...referenceProblems(kind, spec)];
  return found.slice(0, MOST_ISSUES_OF_A_PART).map(([path, message]) => issueAt(place, path, message));
}

/** Returns the warnings about what Flux accepts, and what is hardly meant. */
export function fieldWarnings(kind: string, spec: JsonObject, place: Place): ConfigIssue[] {
  return checked(warnings[kind], spec).map(([path, message]) => issueAt(place, path, message));
}

/** Returns what is wrong with the texts at these paths, which may be absent. */
export function checked(byPath: Checks = {}, spec: JsonObject): Found[] {
  return Object.entries(byPath).flatMap(([path, check]): Found[] => {
    const text = asString(valueAt(spec, path));
    const message = text === undefined ? undefined : check(text);
    return message === undefined ? [] : [[path, message]];
  });
}

/** Helm waits for the objects of a release unless it is told not to. */
function timeouts(spec: JsonObject): Found[] {
  return ['install', 'upgrade', 'rollback', 'uninstall'].flatMap((action): Found[] => {
    const { timeout, disableWait } = asObject(spec[action]) ?? {};
    const mayBeZero = disableWait === true && isZero(asString(timeout) ?? '');
    return mayBeZero ? [] : checked({ [`${action}.timeout`]: positiveDuration }, spec);
  });
}

/** Flux reads a URL for Azure, host and port for S3, and nothing for Google. */
function bucketProblems({ endpoint: given, provider, bucketName }: JsonObject): Found[] {
  const endpoint = asString(given) ?? '';
  const [, scheme, host = '', path = '/'] = /^(\w+:\/\/)?([^/]*)(\/.*)?$/s.exec(endpoint) ?? [];
  if (endpoint === '' || provider === 'gcp') return [];
  if (provider === 'azure') {
    const meant = 'use the URL of the account, for example https://account.blob.core.windows.net';
    return scheme === undefined ? [['endpoint', `${quote(endpoint)} is not a URL; ${meant}`]] : [];
  }
  const found = nameProblems(asString(bucketName) ?? '');
  if (scheme === undefined && path === '/') return found;
  const surplus = scheme === undefined ? 'a path' : 'a scheme';
  const insecure = scheme === 'http://' ? ', and set insecure to true' : '';
  const message = `${quote(endpoint)} has ${surplus}; use only host and port, ${shown(host)}${insecure}`;
  return [...found, ['endpoint', message]];
}

function nameProblems(bucket: string): Found[] {
  const [, name = '', prefix] = /^(?:\w+:\/\/)?([^/]+)(?:\/(.*))?$/.exec(bucket) ?? [];
  if (name === '' || name === bucket) return [];
  const more = prefix ? `, and ${shown(prefix)} as prefix` : '';
  return [['bucketName', `${quote(bucket)} is not the name of a bucket; use ${shown(name)}${more}`]];
}

/** Pages of hosts that have no index of charts. What GitHub serves as files, `raw` and `releases`, may have one. */
const pages: readonly (readonly [page: RegExp, what: string])[] = [
  [/^https?:\/\/artifacthub\.io\//, 'is a page of Artifact Hub; use the URL that it shows under "Install"'],
  [
    /^https?:\/\/(?:www\.)?github\.com\/[^/]+(?:\/[^/]+(?:\/(?:tree|blob)\/.*)?)?\/?$/,
    'is a page of GitHub, not a repository of charts; use the URL of its GitHub Pages, or a GitRepository',
  ],
  [
    /^https?:\/\/gitlab\.com\/(?:[^/]+\/[^/]+\/?$|.+\/-\/(?:tree|blob)\/)/,
    'is a page of GitLab, not a repository of charts; use the URL of its package registry, or a GitRepository',
  ],
];

function helmRepositoryProblems({ url: given, type }: JsonObject): Found[] {
  const url = asString(given) ?? '';
  if (url.startsWith('oci://') && type !== 'oci') {
    const what = type === undefined ? 'is missing' : 'must be oci';
    return [['type', `${what}, because url begins with oci://; set it to oci`]];
  }
  const problem = chartsUrlProblem(url, type);
  return problem === undefined ? [] : [['url', `${quote(url)} ${problem}`]];
}

function chartsUrlProblem(url: string, type: unknown): string | undefined {
  const [, registry = '', tag] = /^(oci:\/\/[^/]+\/.*):([^/]+)$/.exec(url) ?? [];
  if (tag !== undefined)
    return `contains a version; use ${shown(registry)}, and ${shown(tag)} as the version of the chart`;
  if (!/^https?:/.test(url)) return undefined;
  if (type === 'oci') {
    return `must begin with oci://, because type is oci; use ${shown(url.replace(/^https?/, 'oci'))}, or remove type`;
  }
  const [, folder] = /^(.+?)\/index\.ya?ml$/.exec(url) ?? [];
  return folder === undefined
    ? pages.find(([page]) => page.test(url))?.[1]
    : `is the index of the repository; use ${shown(folder)}`;
}

/** The names and versions of charts in a HelmRepository; those in Git are folders, and have no version. */
function chartProblems({ chart: given, version: wanted, sourceRef }: JsonObject, at: string): Found[] {
  const chart = asString(given) ?? '';
  const version = asString(wanted) ?? '';
  const found: Found[] = [];
  if (asObject(sourceRef)?.kind !== 'HelmRepository') return found;
  if (chart !== '' && !/^[-a-z0-9][-a-z0-9._/]*$/.test(chart)) {
    const what = 'is not the name of a chart in a repository; use lowercase letters, and neither a path nor a version';
    found.push([`${at}chart`, `${quote(chart)} ${what}`]);
  }
  // A registry may have any tag.
  if (version !== '' && semverRange(version) !== undefined && ociTag(version) !== undefined)
    found.push([`${at}version`, semverRange(version) ?? '']);
  return found;
}

/** Types of providers whose address is a URL. A Secret may have another address. */
const WEBHOOKS: ReadonlySet<unknown> = new Set(
  'slack discord msteams rocket generic generic-hmac googlechat webex lark matrix grafana alertmanager'.split(' '),
);

function providerProblems({ type, address: given, secretRef }: JsonObject): Found[] {
  const address = asString(given) ?? '';
  const lacksScheme = /^[\w-]+(?:\.[\w-]+)+[/:]/.test(address) && secretRef === undefined && WEBHOOKS.has(type);
  return lacksScheme ? [['address', `${quote(address)} is not a URL; use ${shown(`https://${address}`)}`]] : [];
}

/**
 * Returns the issues that concern several fields of a source of this kind.
 * @param part where the source is, such as `source`
 * @param isListed true: it is an entry of `sources`, which may name a Secret that is delivered in another way
 */
export function sourceIssues(
  source: JsonObject,
  template: JsonObject,
  kind: SourceKind,
  part: Place,
  isListed = false,
): ConfigIssue[] {
  const spec = asObject(template.spec) ?? {};
  const mayNameSecret = isListed || source.secretResourceName !== undefined;
  const found = [
    ...revisionProblems(spec, kind),
    ...credentialsProblems(spec, mayNameSecret, isFluxConfigObject(part.object)),
  ];
  const ofFields = fieldIssues(kind, spec, inside(part, 'template.spec'));
  return [...found.map(([path, message]) => issueAt(part, path, message)), ...ofFields];
}

function revisionProblems({ ref: given }: JsonObject, kind: SourceKind): Found[] {
  const ref = asObject(given);
  const known = Object.keys(revisions[kind]);
  if (ref === undefined || known.some((revision) => ref[revision] !== undefined)) return [];
  const [meant] = Object.keys(ref).flatMap((name) => ({ name, word: nearest(name, known) }));
  return meant?.word === undefined
    ? [['template.spec.ref', `specifies no revision; set one of ${known.join(', ')}`]]
    : [[pathText(['template', 'spec', 'ref', meant.name]), unknownKey(meant.name, known)]];
}

function credentialsProblems({ secretRef, url }: JsonObject, mayNameSecret: boolean, isOfProject: boolean): Found[] {
  const name = asString(asObject(secretRef)?.name);
  const path = 'secretResourceName';
  // The project has this Secret, or the merge reports that it has none.
  const isKnown = name === FLUX_REGISTRY || (name === FLUX_SOURCE && isOfProject);
  if (name !== undefined && !mayNameSecret && !isKnown) {
    const what = 'is missing, but source.template.spec.secretRef is set';
    return [[path, `${what}; name the entry of the Shoot's spec.resources that holds the credentials`]];
  }
  if (asObject(secretRef) !== undefined && name === undefined) {
    return [['template.spec.secretRef.name', 'is missing; set it to the name of the Secret in the shoot']];
  }
  if (!isSsh(asString(url) ?? '') || secretRef !== undefined) return [];
  const what = 'is missing, but Flux needs a key to read over SSH';
  return [[path, `${what}; name the entry of the Shoot's spec.resources that holds identity and known_hosts`]];
}
