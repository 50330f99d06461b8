import type { ConfigIssue } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { isAllowedVersion } from '../checks.ts';
import { DEFAULTS } from '../defaults.ts';
import { type Origins, originOf } from '../origins.ts';
import { quote, truncate } from '../quote.ts';
import type { FluxInstall } from '../types.ts';
import { asObject, asString, type JsonObject } from '../values.ts';
import {
  hostAndPort,
  IMAGE,
  isIncluded,
  type Location,
  locationOf,
  partsOf,
  patternsOf,
  readBucket,
} from './location.ts';
import type { Policy, Rule } from './policy.ts';

const NOT_ALLOWED = 'is not allowed by';

/** What a policy judges: the merged configuration, as far as it is valid. */
interface Judged {
  flux: FluxInstall;
  source: KubeObject | undefined;
  origins: Origins;
}

/** Returns what a policy refuses in a merged configuration, from whichever layer it comes. */
export function policyIssues(policy: Policy, { flux, source, origins }: Judged): ConfigIssue[] {
  return [
    ...versionIssues(policy, flux, origins),
    ...registryIssues(policy, flux, origins),
    ...multiTenancyIssues(policy, flux, origins),
    ...proxyIssues(policy, flux, origins),
    ...(source === undefined ? [] : sourceIssues(policy, source.kind, asObject(source.spec) ?? {}, origins)),
  ];
}

function versionIssues({ allowedVersions }: Policy, { version }: FluxInstall, origins: Origins): ConfigIssue[] {
  // Without a version, only allowed releases are candidates.
  if (allowedVersions === undefined || version === undefined || isAllowedVersion(version, allowedVersions)) return [];
  const place = { origins, path: 'flux.version' };
  return [refusal('allowedVersions', place, `${quote(version)} ${NOT_ALLOWED}`, useOneOf(allowedVersions))];
}

function registryIssues({ allowedRegistries }: Policy, { registry }: FluxInstall, origins: Origins): ConfigIssue[] {
  if (allowedRegistries === undefined) return [];
  const location = locationOf(`${IMAGE}://${registry}`);
  if (location !== undefined && isIncluded(location, patternsOf(allowedRegistries, IMAGE))) return [];
  const place = { origins, path: 'flux.registry' };
  return [refusal('allowedRegistries', place, `${quote(registry)} ${NOT_ALLOWED}`, useOneOf(allowedRegistries))];
}

function multiTenancyIssues(policy: Policy, { multiTenancy }: FluxInstall, origins: Origins): ConfigIssue[] {
  if (policy.requireMultiTenancy !== true || multiTenancy === true) return [];
  const place = { origins, path: 'flux.multiTenancy' };
  return [refusal('requireMultiTenancy', place, `false ${NOT_ALLOWED}`, 'remove it, or set it to true')];
}

/** A proxy decides what is read from `http://`, and learns the host of everything else; operators may set their own. */
function proxyIssues({ allowedRepositoryUrls }: Policy, { proxy }: FluxInstall, origins: Origins): ConfigIssue[] {
  const isOfLandscape = origins['flux.proxy']?.object === DEFAULTS;
  if (allowedRepositoryUrls === undefined || proxy === undefined || isOfLandscape) return [];
  const remedy = 'remove it, because the proxy would decide what is read';
  return [refusal('allowedRepositoryUrls', { origins, path: 'flux.proxy' }, NOT_ALLOWED, remedy)];
}

/**
 * Returns what a policy refuses in the `spec` of a source.
 * @param part the path of the source in the effective configuration
 */
export function sourceIssues(
  policy: Policy,
  kind: string,
  spec: JsonObject,
  origins: Origins,
  part = 'source',
): ConfigIssue[] {
  return [
    ...urlIssue(policy, kind, spec, origins, part),
    ...readerProxyIssues(policy, spec, origins, part),
    ...insecureIssues(policy, kind, spec, origins, part),
  ];
}

/**
 * Returns what a policy refuses in the URL of an object.
 * @param part the path of the object in the effective configuration
 * @param at the path in it that decides the URL, if it is not the URL's own
 */
function urlIssue(
  { allowedRepositoryUrls }: Policy,
  kind: string,
  spec: JsonObject,
  origins: Origins,
  part: string,
  at?: string,
): ConfigIssue[] {
  if (allowedRepositoryUrls === undefined) return [];
  const rule = 'allowedRepositoryUrls';
  const { field, url, location } = kind === 'Bucket' ? readBucket(spec) : readUrl(kind, spec);
  const place = { origins, path: `${part}.${at ?? `spec.${field}`}` };
  if (location === undefined) {
    const plain = `${useOneOf(allowedRepositoryUrls)}, without a query, dots or encoded slashes in its path`;
    return [refusal(rule, place, `${quote(url)} has a form that cannot be compared with`, plain)];
  }
  if (isIncluded(location, patternsOf(allowedRepositoryUrls))) return [];
  return [refusal(rule, place, `${quote(url)} ${NOT_ALLOWED}`, useOneOf(allowedRepositoryUrls))];
}

/** The proxy would decide what is read. */
function readerProxyIssues(policy: Policy, spec: JsonObject, origins: Origins, part: string): ConfigIssue[] {
  if (policy.allowedRepositoryUrls === undefined || spec.proxySecretRef === undefined) return [];
  const proxy = { origins, path: `${part}.spec.proxySecretRef` };
  const remedy = 'remove it, because the proxy would decide what is read';
  return [refusal('allowedRepositoryUrls', proxy, NOT_ALLOWED, remedy)];
}

/** The `provider` of the other kinds only decides how Flux authenticates. */
function readUrl(kind: string, spec: JsonObject): { field: string; url: string; location: Location | undefined } {
  const url = asString(spec.url) ?? '';
  return { field: 'url', url, location: locationOf(url, kind !== 'HelmRepository') };
}

/** Returns the fields by which a policy refuses an object that uses no encryption. */
function insecureIssues(policy: Policy, kind: string, spec: JsonObject, origins: Origins, part: string): ConfigIssue[] {
  if (policy.allowInsecureUrls !== false) return [];
  return insecureFields(kind, spec).map(({ path, value, remedy }) =>
    refusal('allowInsecureUrls', { origins, path: `${part}.spec.${path}` }, `${value} ${NOT_ALLOWED}`, remedy),
  );
}

/** Returns what a policy refuses in the way a project gets the host keys of its repository. */
export function hostKeyIssues(policy: Policy, knownHosts: string | undefined, object: string): ConfigIssue[] {
  if (policy.allowHostKeyScan !== false || knownHosts !== 'scan') return [];
  const place = { origins: { knownHosts: { object, path: 'knownHosts' } }, path: 'knownHosts' };
  return [refusal('allowHostKeyScan', place, `"scan" ${NOT_ALLOWED}`, 'add the lines that ssh-keyscan prints')];
}

/** Hosts that Flux's OCI client also tries over HTTP, as go-containerregistry decides it. */
const OVER_HTTP = [
  /^localhost$/,
  /\.local(host)?$/,
  /^127\./,
  /^\[::1\]$/,
  /^10\./,
  /^192\.168\./,
  /^172\.(1[6-9]|2[0-9]|3[01])\./,
];

/** A field that permits a connection without encryption, and what to write instead. */
interface InsecureField {
  /** The path in `spec`. */
  path: string;
  /** As a sentence shows it. */
  value: string;
  remedy: string;
}

/** Returns the fields of a source by which it may be read without encryption. */
function insecureFields(kind: string, spec: JsonObject): InsecureField[] {
  const url = asString(spec.url) ?? '';
  const stsEndpoint = asString(asObject(spec.sts)?.endpoint) ?? '';
  const fields: InsecureField[] = [];
  if (/^http:/i.test(url)) fields.push({ path: 'url', value: quote(url), remedy: 'use https:// or ssh://' });
  if ((kind === 'OCIRepository' || (kind === 'HelmRepository' && url.startsWith('oci:'))) && isOverHttp(url)) {
    fields.push({
      path: 'url',
      value: quote(url),
      remedy: 'use a registry with a public name, which is read over HTTPS only',
    });
  }
  const endpoint = asString(spec.endpoint) ?? '';
  if (kind === 'Bucket' && /^http:/i.test(endpoint)) {
    fields.push({ path: 'endpoint', value: quote(endpoint), remedy: 'use https://' });
  }
  const address = asString(spec.address) ?? '';
  if (kind === 'Provider' && /^http:/i.test(address)) {
    fields.push({ path: 'address', value: quote(address), remedy: 'use https://' });
  }
  const image = asString(spec.image) ?? '';
  if (kind === 'ImageRepository' && isOverHttp(`image://${image}`)) {
    fields.push({
      path: 'image',
      value: quote(image),
      remedy: 'use a registry with a public name, which is read over HTTPS only',
    });
  }
  if (spec.insecure !== undefined && spec.insecure !== false) {
    fields.push({ path: 'insecure', value: String(spec.insecure), remedy: 'remove it' });
  }
  if (/^http:/i.test(stsEndpoint)) {
    fields.push({ path: 'sts.endpoint', value: quote(stsEndpoint), remedy: 'use https://' });
  }
  return fields;
}

function isOverHttp(url: string): boolean {
  const authority = partsOf(url)?.authority ?? '';
  const host = hostAndPort(authority).host.toLowerCase().replace(/\.$/, '');
  return OVER_HTTP.some((pattern) => pattern.test(host));
}

/** A chart in the effective configuration. */
interface JudgedChart {
  policy: Policy;
  path: string;
  origins: Origins;
  /** The objects that the configuration has, which the chart may name. */
  objects: readonly KubeObject[];
  namespace: string;
}

/** Returns what a policy refuses in the objects besides the root pair. */
export function objectIssues(
  policy: Policy,
  objects: readonly KubeObject[],
  root: KubeObject | undefined,
  origins: Origins,
): ConfigIssue[] {
  return objects.flatMap(({ kind, spec: given, metadata }, index) => {
    const spec = asObject(given) ?? {};
    const path = `objects[${index}]`;
    if (SOURCES.has(kind)) return sourceIssues(policy, kind, spec, origins, path);
    const all = root === undefined ? objects : [root, ...objects];
    const judged = { policy, origins, path, objects: all, namespace: metadata.namespace ?? '' };
    const ofSpec = asObject(asObject(spec.chart)?.spec) ?? {};
    return [
      ...(kind === 'HelmChart' ? chartIssues(judged, spec, 'spec') : []),
      ...(kind === 'HelmRelease' ? chartIssues(judged, ofSpec, 'spec.chart.spec') : []),
      ...(READERS.has(kind) ? insecureIssues(policy, kind, spec, origins, path) : []),
    ];
  });
}

const SOURCES: ReadonlySet<string> = new Set(['GitRepository', 'OCIRepository', 'Bucket', 'HelmRepository']);
/** What else may read from elsewhere. Kinds that are missing here read only what other objects name. */
const READERS: ReadonlySet<string> = new Set(['HelmChart', 'HelmRelease', 'ImageRepository', 'Provider']);

/** In a registry, the name of a chart is the end of the URL, and may lead away from the repository. */
function chartIssues(judged: JudgedChart, chart: JsonObject, field: string): ConfigIssue[] {
  const { policy, origins, path, objects, namespace } = judged;
  const { kind, name, namespace: other } = asObject(chart.sourceRef) ?? {};
  if (policy.allowedRepositoryUrls === undefined || kind !== 'HelmRepository') return [];
  const repository = objects.find(
    (object) =>
      object.kind === kind &&
      object.metadata.name === name &&
      object.metadata.namespace === (asString(other) ?? namespace),
  );
  const url = asString(asObject(repository?.spec)?.url) ?? '';
  if (!url.startsWith('oci://')) return [];
  const whole = `${url.replace(/\/$/, '')}/${asString(chart.chart) ?? ''}`;
  return urlIssue(policy, kind, { url: whole }, origins, path, `${field}.chart`);
}

/** Returns the issue of a field that a rule refuses: one sentence that names the rule. */
export function refusal(rule: Rule, { origins, path }: Place, what: string, remedy: string): ConfigIssue {
  const message = `${what} ${rule} in the policy of this landscape; ${remedy}`;
  return { ...originOf(origins, path), message, rule };
}

/** A field of the effective configuration, and where the user sets it. */
export interface Place {
  origins: Origins;
  path: string;
}

/** How many entries of a list a sentence names, and in how many characters. */
const MAX_ENTRIES = 10;
const MAX_LIST = 300;

/** Returns the remedy that names what is allowed. */
export function useOneOf(allowed: readonly string[]): string {
  const named: string[] = [];
  for (const entry of allowed.slice(0, MAX_ENTRIES)) {
    if (named.length > 0 && named.join(', ').length + entry.length > MAX_LIST) break;
    named.push(truncate(entry));
  }
  const more = allowed.length > named.length ? ` or ${allowed.length - named.length} more` : '';
  return `use ${named.length + (more === '' ? 0 : 1) > 1 ? 'one of ' : ''}${named.join(', ')}${more}`;
}
