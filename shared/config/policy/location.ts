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
export const BUCKET = 'bucket';

const DEFAULT_PORTS: Record<string, string> = { http: '80', ssh: '22' };

/** Returns the port that a scheme uses where none is written. */
export function defaultPort(scheme: string): string {
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
  const end = text.indexOf('://');
  const scheme = end === -1 ? undefined : text.slice(0, end);
  if (scheme !== undefined && !SCHEME.test(scheme)) return undefined;
  const rest = end === -1 ? text : text.slice(end + '://'.length);
  const slash = rest.indexOf('/');
  return slash === -1
    ? { scheme, authority: rest, path: '' }
    : { scheme, authority: rest.slice(0, slash), path: rest.slice(slash + 1) };
}

/** Splits `host:port`; the colons of an IPv6 address are in brackets. */
export function hostAndPort(authority: string): { host: string; port?: string | undefined } {
  const colon = authority.indexOf(':', authority.lastIndexOf(']') + 1);
  return colon === -1 ? { host: authority } : { host: authority.slice(0, colon), port: authority.slice(colon + 1) };
}

/** Splits a path; undefined if a server could take it for another one. */
export function segmentsOf(path: string): string[] | undefined {
  const raw = path.split('/');
  // One slash at the end means nothing.
  if (raw.at(-1) === '') raw.pop();
  const segments = raw.map(decoded);
  if (segments.some((segment) => segment === undefined || isAmbiguous(segment))) return undefined;
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

// biome-ignore lint/suspicious/noControlCharactersInRegex: servers treat control characters in different ways
const UNCLEAR = /[/\\%\x00-\x1f\x7f]/;

/** Some servers ignore what follows a semicolon. */
function isAmbiguous(segment: string): boolean {
  return segment === '' || /^\.\.?(;|$)/.test(segment) || UNCLEAR.test(segment);
}

/** The schemes of Git repositories. */
const GIT = ['http', 'https', 'ssh'];

/** Returns the form in which the last segment of a path is compared: Git servers serve a repository under both names. */
export function comparedLast(scheme: string, segment: string): string {
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
