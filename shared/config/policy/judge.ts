import type { ConfigIssue } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { isOfAddon } from '../addons.ts';
import { isAllowedVersion } from '../checks.ts';
import { DEFAULTS } from '../defaults.ts';
import { issueOf, type Origins, originOf } from '../origins.ts';
import { quote, useOneOf } from '../quote.ts';
import type { Complete, FluxInstall, ShootTraits } from '../types.ts';
import { asObject, asString, type JsonObject, valueAt } from '../values.ts';
import { hasOpenUrl } from '../variables.ts';
import { hostAndPort, IMAGE, isIncluded, locationOf, partsOf, patternsOf, type Read, readBucket } from './location.ts';
import type { Policy, Rule } from './policy.ts';

const NOT_ALLOWED = 'is not allowed by';
const NO_PROXY = 'remove it, because the proxy would decide what is read';

type Refuse = ReturnType<typeof refuser>;

/**
 * Returns the function for the issue of a field that a rule refuses, in one sentence that names the rule; its path is below
 * the judged part.
 * @param part the path of the judged part in the effective configuration
 */
function refuser(origins: Origins, part: string) {
  return (rule: Rule, path: string, what: string, remedy: string): ConfigIssue => {
    const message = `${what} ${rule} in the policy of this landscape; ${remedy}`;
    return { ...issueOf(origins, `${part}.${path}`, message), rule };
  };
}

/** Returns what a policy refuses in the merged configuration, as far as it is valid, from whichever layer it comes. */
export function policyIssues(policy: Policy, config: Complete, shoot: ShootTraits | undefined): ConfigIssue[] {
  const { layers, sourceFrom, flux, source, objects, origins } = config;
  if (layers.some(({ isRead }) => !isRead)) return [];
  const judged = (object: KubeObject, part: string) =>
    // A URL whose variables have no values yet is judged with them.
    hasOpenUrl(object, shoot) ? [] : objectIssues(policy, object, objects, refuser(origins, part));
  return [
    ...fluxIssues(policy, flux, origins),
    ...(source === undefined ? [] : judged(source, 'source')),
    // What an addon brings is the operators' own.
    ...objects.flatMap((object, index) =>
      isOfAddon(originOf(origins, `objects[${index}]`)) ? [] : judged(object, `objects[${index}]`),
    ),
    ...hostKeyIssues(policy, sourceFrom.knownHosts, sourceFrom.object),
  ];
}

function fluxIssues(policy: Policy, flux: FluxInstall, origins: Origins): ConfigIssue[] {
  const { allowedVersions, allowedRegistries, allowedRepositoryUrls, requireMultiTenancy } = policy;
  const { version, registry } = flux;
  const refuse = refuser(origins, 'flux');
  const issues: ConfigIssue[] = [];
  // Without a version, only allowed releases are candidates.
  if (allowedVersions !== undefined && version !== undefined && !isAllowedVersion(version, allowedVersions)) {
    issues.push(refuse('allowedVersions', 'version', `${quote(version)} ${NOT_ALLOWED}`, useOneOf(allowedVersions)));
  }
  if (allowedRegistries !== undefined && !isAllowedImage(registry, allowedRegistries)) {
    const what = `${quote(registry)} ${NOT_ALLOWED}`;
    issues.push(refuse('allowedRegistries', 'registry', what, useOneOf(allowedRegistries)));
  }
  if (requireMultiTenancy === true && flux.multiTenancy !== true) {
    const what = `false ${NOT_ALLOWED}`;
    issues.push(refuse('requireMultiTenancy', 'multiTenancy', what, 'remove it, or set it to true'));
  }
  // A proxy decides what is read from `http://`, and learns the host of everything else; operators may set their own.
  const isOfProject = flux.proxy !== undefined && origins['flux.proxy']?.object !== DEFAULTS;
  if (allowedRepositoryUrls !== undefined && isOfProject) {
    issues.push(refuse('allowedRepositoryUrls', 'proxy', NOT_ALLOWED, NO_PROXY));
  }
  return issues;
}

/** Returns whether a list of `allowedRegistries` has the prefix of an image, or a prefix of it. */
export function isAllowedImage(prefix: string, allowed: readonly string[]): boolean {
  const location = locationOf(`${IMAGE}://${prefix}`);
  return location !== undefined && isIncluded(location, patternsOf(allowed, IMAGE));
}

const SOURCES: ReadonlySet<string> = new Set(['GitRepository', 'OCIRepository', 'Bucket', 'HelmRepository']);

/** Returns what a policy refuses in an object. @param others the objects that it may name */
function objectIssues(
  policy: Policy,
  object: KubeObject,
  others: readonly KubeObject[],
  refuse: Refuse,
): ConfigIssue[] {
  const spec = asObject(object.spec) ?? {};
  const { allowedRepositoryUrls } = policy;
  const hasProxy = allowedRepositoryUrls && SOURCES.has(object.kind) && spec.proxySecretRef !== undefined;
  return [
    ...urlIssues(allowedRepositoryUrls, readBy(object.kind, spec) ?? chartReadBy(object, others), refuse),
    ...(hasProxy ? [refuse('allowedRepositoryUrls', 'spec.proxySecretRef', NOT_ALLOWED, NO_PROXY)] : []),
    ...insecureIssues(policy, object.kind, spec, refuse),
  ];
}

/** Returns what a policy refuses in the `spec` of the project's source. */
export function sourceIssues(policy: Policy, kind: string, spec: JsonObject, origins: Origins): ConfigIssue[] {
  return objectIssues(policy, { apiVersion: '', kind, metadata: { name: '' }, spec }, [], refuser(origins, 'source'));
}

function urlIssues(allowed: readonly string[] | undefined, read: Read | undefined, refuse: Refuse): ConfigIssue[] {
  if (allowed === undefined || read === undefined) return [];
  const { field, url, location } = read;
  if (location !== undefined && isIncluded(location, patternsOf(allowed))) return [];
  const what = location === undefined ? 'has a form that cannot be compared with' : NOT_ALLOWED;
  const plain = location === undefined ? ', without a query, dots or encoded slashes in its path' : '';
  return [refuse('allowedRepositoryUrls', `spec.${field}`, `${quote(url)} ${what}`, useOneOf(allowed) + plain)];
}

/** Returns what a source reads. The `provider` of others than buckets only decides how Flux authenticates. */
function readBy(kind: string, spec: JsonObject): Read | undefined {
  if (!SOURCES.has(kind)) return undefined;
  const url = asString(spec.url) ?? '';
  return kind === 'Bucket'
    ? readBucket(spec)
    : { field: 'url', url, location: locationOf(url, kind !== 'HelmRepository') };
}

/** In a registry, the name of a chart is the end of the URL, and may lead away from the repository. */
function chartReadBy({ kind, metadata, spec }: KubeObject, others: readonly KubeObject[]): Read | undefined {
  const path = kind === 'HelmRelease' ? 'chart.spec.' : '';
  const at = (field: string) => asString(valueAt(spec, `${path}${field}`));
  if (!['HelmChart', 'HelmRelease'].includes(kind) || at('sourceRef.kind') !== 'HelmRepository') return undefined;
  const namespace = at('sourceRef.namespace') ?? metadata.namespace;
  const repository = others.find(
    (other) =>
      other.kind === 'HelmRepository' &&
      other.metadata.name === at('sourceRef.name') &&
      other.metadata.namespace === namespace,
  );
  const base = asString(valueAt(repository, 'spec.url')) ?? '';
  const url = `${base.replace(/\/$/, '')}/${at('chart') ?? ''}`;
  return base.startsWith('oci://') ? { field: `${path}chart`, url, location: locationOf(url, false) } : undefined;
}

/** Returns what a policy refuses in the way a project gets the host keys of its repository. */
export function hostKeyIssues(policy: Policy, knownHosts: string | undefined, object: string): ConfigIssue[] {
  if (policy.allowHostKeyScan !== false || knownHosts !== 'scan') return [];
  const refuse = refuser({ 'flat.knownHosts': { object, path: 'knownHosts' } }, 'flat');
  const remedy = 'add the lines that ssh-keyscan prints';
  return [refuse('allowHostKeyScan', 'knownHosts', `"scan" ${NOT_ALLOWED}`, remedy)];
}

/** Returns the fields of an object by which it may be read without encryption, where that is refused. */
function insecureIssues(policy: Policy, kind: string, spec: JsonObject, refuse: Refuse): ConfigIssue[] {
  if (policy.allowInsecureUrls !== false) return [];
  const at = (path: string) => asString(valueAt(spec, path)) ?? '';
  const [url, image] = [at('url'), at('image')];
  const isOci = kind === 'OCIRepository' || (kind === 'HelmRepository' && url.startsWith('oci:'));
  const isInsecure = spec.insecure !== undefined && spec.insecure !== false;
  const publicName = 'use a registry with a public name, which is read over HTTPS only';
  const rows: [isRefused: boolean, path: string, value: string, remedy: string][] = [
    [isHttp(url), 'url', quote(url), 'use https:// or ssh://'],
    [isOci && isOverHttp(url), 'url', quote(url), publicName],
    [kind === 'Bucket' && isHttp(at('endpoint')), 'endpoint', quote(at('endpoint')), 'use https://'],
    [kind === 'Provider' && isHttp(at('address')), 'address', quote(at('address')), 'use https://'],
    [kind === 'ImageRepository' && isOverHttp(`image://${image}`), 'image', quote(image), publicName],
    [isInsecure, 'insecure', String(spec.insecure), 'remove it'],
    [isHttp(at('sts.endpoint')), 'sts.endpoint', quote(at('sts.endpoint')), 'use https://'],
  ];
  return rows
    .filter(([isRefused]) => isRefused)
    .map(([, path, value, remedy]) => refuse('allowInsecureUrls', `spec.${path}`, `${value} ${NOT_ALLOWED}`, remedy));
}

const isHttp = (url: string) => /^http:/i.test(url);

/** Hosts that Flux's OCI client also tries over HTTP, as go-containerregistry decides it. */
const OVER_HTTP = /^localhost$|\.local(host)?$|^127\.|^\[::1\]$|^10\.|^192\.168\.|^172\.(1[6-9]|2[0-9]|3[01])\./;

function isOverHttp(url: string): boolean {
  const authority = partsOf(url)?.authority ?? '';
  return OVER_HTTP.test(hostAndPort(authority).host.toLowerCase().replace(/\.$/, ''));
}
