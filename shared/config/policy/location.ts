import type { Check } from '../checks.ts';
import { quote } from '../quote.ts';
import { asString, type JsonObject } from '../values.ts';

/** What a URL, an image prefix or a bucket leads to, in the one form in which policies compare it. */
export interface Location {
  scheme: string;
  /** Lower case, without a final dot. */
  host: string;
  /** The default port of the scheme where none is written. */
  port: string;
  /** Percent-decoded; without empty ones, and for Git without a final `.git`. */
  segments: string[];
}

/** The scheme of image prefixes, which have none, and of buckets, which are no URLs. */
export const IMAGE = 'image';
const BUCKET = 'bucket';

const DEFAULT_PORTS: Record<string, string> = { http: '80', ssh: '22' };

/** Returns the port that a scheme uses where none is written. */
function defaultPort(scheme: string): string {
  return DEFAULT_PORTS[scheme] ?? '443';
}

const SCHEME = /^[a-z][a-z0-9+.-]*$/;
/** Readers differ in what they make of all other characters, so a policy does not judge them. */
const PLAIN = /^[\x21-\x7e]*$/;
const AMBIGUOUS = /[\\?#"<>^`{|}]/;
const USER = /^[\w.~+-]*$/;
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?$/;
const PORT = /^[0-9]{1,5}$/;

/**
 * Reads a URL for a policy. Only forms that every reader understands alike are read: no query, backslash, dot segment,
 * empty segment or encoded slash, one user at most, and a host in ASCII.
 * @param mayBeGit false: it is the URL of something else than a Git repository, which has one name only
 * @returns undefined for any other form
 */
export function locationOf(url: string, mayBeGit = true): Location | undefined {
  const parts = partsOf(url);
  if (parts === undefined || parts.scheme === undefined || !PLAIN.test(url) || AMBIGUOUS.test(url)) return undefined;
  const { scheme } = parts;
  const at = parts.authority.lastIndexOf('@');
  if (at >= 0 && !USER.test(parts.authority.slice(0, at))) return undefined;
  const { host, port } = hostAndPort(parts.authority.slice(at + 1));
  const name = HOST.exec(host.toLowerCase())?.[1];
  const segments = segmentsOf(parts.path)?.map((segment, index, all) =>
    mayBeGit && index === all.length - 1 ? comparedLast(scheme, segment) : segment,
  );
  if (name === undefined || segments === undefined || (port !== undefined && !PORT.test(port))) return undefined;
  return withRegistry(
    { scheme, host: name, port: port === undefined ? defaultPort(scheme) : String(Number(port)), segments },
    port !== undefined,
    host,
  );
}

/** Splits a URL, or a pattern without a scheme, at its first slashes. */
export function partsOf(text: string): { scheme: string | undefined; authority: string; path: string } | undefined {
  const [, scheme, authority = '', path = ''] = /^(?:(.*?):\/\/)?([^/]*)\/?(.*)$/s.exec(text) ?? [];
  return scheme === undefined || SCHEME.test(scheme) ? { scheme, authority, path } : undefined;
}

/** Splits `host:port`; the colons of an IPv6 address are in brackets. */
export function hostAndPort(authority: string): { host: string; port?: string | undefined } {
  const colon = authority.indexOf(':', authority.lastIndexOf(']') + 1);
  return colon === -1 ? { host: authority } : { host: authority.slice(0, colon), port: authority.slice(colon + 1) };
}

/** Splits a path; undefined if a server could take it for another one. */
function segmentsOf(path: string): string[] | undefined {
  const raw = path.split('/');
  // One slash at the end means nothing.
  if (raw.at(-1) === '') raw.pop();
  const segments = raw.map(decoded);
  if (segments.some((segment) => segment === undefined || UNCLEAR.test(segment))) return undefined;
  return segments as string[];
}

function decoded(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Segments that servers read in different ways. Some ignore what follows a semicolon. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: servers treat control characters in different ways
const UNCLEAR = /^$|^\.\.?(;|$)|[/\\%\x00-\x1f\x7f]/;

/** The schemes of Git repositories. */
const GIT = ['http', 'https', 'ssh'];

/** Returns the form in which the last segment of a path is compared: Git servers serve a repository under both names. */
function comparedLast(scheme: string, segment: string): string {
  const hasBothNames = GIT.includes(scheme) && segment.endsWith('.git') && segment.length > '.git'.length;
  return hasBothNames ? segment.slice(0, -'.git'.length) : segment;
}

const DOCKER_HUB = ['index.docker.io', 'registry-1.docker.io', 'docker.io'];

/**
 * Gives Docker Hub its one name: a first part that cannot be a host is part of the repository there. Flux and the
 * container runtime differ only in `localhost`.
 * @param written the host as it is written
 */
function withRegistry(location: Location, hasPort: boolean, written: string): Location {
  const { scheme, host, segments } = location;
  if (scheme !== 'oci' && scheme !== IMAGE) return location;
  const isHost = host.includes('.') || host.includes(':') || hasPort;
  const isImageHost = scheme === IMAGE && (host === 'localhost' || written !== host);
  if (!isHost && !isImageHost) return { ...location, host: 'docker.io', segments: [host, ...segments] };
  return DOCKER_HUB.includes(host) ? { ...location, host: 'docker.io' } : location;
}

/** An entry of an operator's list, parsed. */
interface Pattern {
  /** Absent: every scheme. */
  scheme: string | undefined;
  host: string;
  /** Absent: the default port of the scheme; `*`: every port. */
  port: string | undefined;
  segments: string[];
  /** True: also everything below. */
  below: boolean;
}

const PATTERN_HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_*-]+(\.[a-z0-9_*-]+)*)$/;

/**
 * Parses an entry: `[scheme://]host[:port][/path]`, where `*` stands for any text in the host or in one segment of the
 * path, the port `*` for every port, and a last segment `**` for everything below.
 */
export function patternOf(entry: string, defaultScheme?: string): Pattern | undefined {
  const parts = partsOf(entry);
  if (parts === undefined || parts.authority.includes('@') || /[\s\\?#]/.test(entry)) return undefined;
  const scheme = parts.scheme ?? defaultScheme;
  const { host, port } = hostAndPort(parts.authority.toLowerCase());
  const path = parts.path.endsWith('/**') || parts.path === '**' ? parts.path.slice(0, -2) : parts.path;
  const segments = segmentsOf(path);
  const isPort = port === undefined || port === '*' || /^[0-9]{1,5}$/.test(port);
  if (!PATTERN_HOST.test(host) || !isPort || segments === undefined || segments.some((one) => one.includes('**'))) {
    return undefined;
  }
  const below = path !== parts.path;
  const plain = host.includes('*') ? undefined : locationOf(`${scheme ?? 'https'}://${parts.authority}`);
  // Docker Hub has several names.
  if (plain === undefined || (scheme !== IMAGE && scheme !== 'oci')) return { scheme, host, port, segments, below };
  return { scheme, host: plain.host, port, segments: [...plain.segments, ...segments], below };
}

/** Parses the entries of a list, which the schema of the policy has checked. */
export function patternsOf(entries: readonly string[], defaultScheme?: typeof IMAGE): Pattern[] {
  return entries.flatMap((entry) => patternOf(entry, defaultScheme) ?? []);
}

/** Returns whether one of the patterns includes a location. Linear in the lengths of both. */
export function isIncluded(location: Location, patterns: readonly Pattern[]): boolean {
  return patterns.some((pattern) => includes(pattern, location));
}

function includes({ scheme, host, port, segments, below }: Pattern, location: Location): boolean {
  if (scheme !== undefined && scheme !== location.scheme) return false;
  if (port !== '*' && (port ?? defaultPort(location.scheme)) !== location.port) return false;
  const isLong = below ? location.segments.length >= segments.length : location.segments.length === segments.length;
  if (!isLong || !matches(host, location.host)) return false;
  const last = location.segments.length - 1;
  return segments.every((segment, index) =>
    matches(index === last ? comparedLast(location.scheme, segment) : segment, location.segments[index] ?? ''),
  );
}

/**
 * Matches a text in which `*` stands for any text. The parts between the stars are searched once each, from where the
 * one before has ended, so nothing is tried twice.
 */
export function matches(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Checks an entry of `allowedRepositoryUrls`. */
export const urlPattern: Check = (entry) =>
  patternOf(entry) === undefined
    ? `${quote(entry)} is not a pattern for URLs; use a form like https://git.example.com/team/** or ssh://*.example.com/**`
    : undefined;

/** Checks an entry of `allowedRegistries`. */
export const registryPattern: Check = (entry) =>
  entry.includes('://') || patternOf(entry, IMAGE) === undefined
    ? `${quote(entry)} is not a pattern for image prefixes; use a form like registry.example.com/fluxcd or registry.example.com/**`
    : undefined;

/** What Flux reads for an object. */
export interface Read {
  /** The field of its `spec` that decides it. */
  field: string;
  /** As sentences show it, for a bucket `bucket://ENDPOINT/BUCKET_NAME`. */
  url: string;
  /** Undefined: readers could differ in what it leads to. */
  location: Location | undefined;
}

/** Clients escape other characters of a name, or send them as they are. */
const BUCKET_NAME = /^[\w$][\w.$:-]*$/;

/** Returns which bucket Flux reads: each provider takes its address from other fields. */
export function readBucket(spec: JsonObject): Read {
  const name = asString(spec.bucketName) ?? '';
  const url = `${BUCKET}://${addressOf(spec)}/${name}`;
  const field = spec.provider === 'gcp' ? 'bucketName' : 'endpoint';
  return { field, url, location: BUCKET_NAME.test(name) ? locationOf(url) : undefined };
}

function addressOf(spec: JsonObject): string {
  const endpoint = asString(spec.endpoint) ?? '';
  if (spec.provider === 'gcp') return 'storage.googleapis.com';
  if (spec.provider === 'azure') return azureAddress(endpoint);
  // All other providers are read with a client for S3.
  const host = amazonHost(endpoint, asString(spec.region) ?? '') ?? endpoint;
  return spec.insecure === undefined || spec.insecure === false ? host : withoutTls(host);
}

/** Azure's endpoint is the URL of an account; its containers are below it. */
function azureAddress(endpoint: string): string {
  const [, scheme, rest = ''] = /^(https?):\/\/(.*)$/s.exec(endpoint) ?? [];
  if (scheme === undefined) return endpoint;
  const address = rest.replace(/\/$/, '');
  return scheme === 'http' ? withoutTls(address) : address;
}

function withoutTls(address: string): string {
  const [authority = '', ...path] = address.split('/');
  const withPort = hostAndPort(authority).port === undefined ? `${authority}:80` : authority;
  return [withPort, ...path].join('/');
}

/** The regions outside the global namespace of Amazon's buckets: others there may own a bucket of the same name. */
const SEPARATE = new Map([
  ['cn-north-1', 'amazonaws.com.cn'],
  ['cn-northwest-1', 'amazonaws.com.cn'],
  ['us-gov-east-1', 'amazonaws.com'],
  ['us-gov-west-1', 'amazonaws.com'],
  ['us-iso-east-1', 'c2s.ic.gov'],
  ['us-iso-west-1', 'c2s.ic.gov'],
  ['us-isob-east-1', 'c2s.ic.gov'],
]);

/**
 * For Amazon's endpoints the client replaces the host by that of `region`; an unknown one is in the global namespace.
 * @returns undefined if the endpoint's host has the namespace that is read
 */
function amazonHost(endpoint: string, region: string): string | undefined {
  const host = hostAndPort(partsOf(endpoint)?.authority.toLowerCase() ?? '').host.replace(/\.$/, '');
  const suffix = ['amazonaws.com', 'amazonaws.com.cn', 'c2s.ic.gov'].find((one) => host.endsWith(`.${one}`));
  if (suffix === undefined) return undefined;
  const written = [...SEPARATE.keys()].find((one) => host.includes(one));
  const read = region === '' ? written : region;
  const separate = read === undefined ? undefined : SEPARATE.get(read);
  if (separate !== undefined) {
    return read === written && suffix === separate ? undefined : `s3.${read}.${separate}`;
  }
  return written === undefined && suffix === 'amazonaws.com' ? undefined : 's3.amazonaws.com';
}
