import type { ConfigIssue } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { DEFAULTS } from '../defaults.ts';
import type { Origins } from '../origins.ts';
import { quote } from '../quote.ts';
import type { FluxInstall } from '../types.ts';
import { asObject, asString, type JsonObject } from '../values.ts';
import { isAllowedVersion } from '../version-range.ts';
import { readBucket } from './bucket.ts';
import { insecureFields } from './insecure.ts';
import { IMAGE, type Location, locationOf } from './location.ts';
import { isIncluded, patternsOf } from './pattern.ts';
import type { Policy } from './policy.ts';
import { refusal, useOneOf } from './refusal.ts';

const NOT_ALLOWED = 'is not allowed by';

/** What a policy judges: the merged configuration, as far as it is valid. */
export interface Judged {
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

/** Returns what a policy refuses in the `spec` of a source. */
export function sourceIssues(policy: Policy, kind: string, spec: JsonObject, origins: Origins): ConfigIssue[] {
  return [
    ...urlIssue(policy, kind, spec, origins, 'source'),
    ...readerProxyIssues(policy, spec, origins, 'source'),
    ...insecureIssues(policy, kind, spec, origins, 'source'),
  ];
}

/**
 * Returns what a policy refuses in the URL of an object.
 * @param part the path of the object in the effective configuration
 * @param at the path in it that decides the URL, if it is not the URL's own
 */
export function urlIssue(
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
export function readerProxyIssues(policy: Policy, spec: JsonObject, origins: Origins, part: string): ConfigIssue[] {
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
export function insecureIssues(
  policy: Policy,
  kind: string,
  spec: JsonObject,
  origins: Origins,
  part: string,
): ConfigIssue[] {
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
