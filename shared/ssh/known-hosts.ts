import { createHmac } from 'node:crypto';
import { type PublicKey, parsePublicLine, publicLine } from './public-key.ts';

/** Where an SSH server listens, spelled as in the URL: Flux compares host names case-sensitively. */
export interface SshHost {
  host: string;
  port: number;
}

const SSH_PORT = 22;

/**
 * Returns the server of an `ssh://` URL.
 * @throws TypeError when the text is not a URL
 */
export function sshHost(url: string): SshHost {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? SSH_PORT : Number(port) };
}

/** Returns the host's name in known_hosts: `host`, or `[host]:port` for another port than 22 or an IPv6 address. */
export function hostPattern({ host, port }: SshHost): string {
  return port === SSH_PORT && !host.includes(':') ? host : `[${host}]:${port}`;
}

/** Returns which lines of known_hosts a server needs: `the lines that ssh-keyscan … prints`. */
export function scannedLines(server: SshHost): string {
  const { host, port } = server;
  if (port === SSH_PORT) return `the lines that ssh-keyscan ${host} prints`;
  return `the lines that ssh-keyscan -p ${port} ${host} prints (they begin with ${hostPattern(server)})`;
}

/** Returns why known_hosts has no key for a server, and what to write. */
export function missingHostKey(knownHosts: string, server: SshHost): string {
  const tooLarge = knownHostsSizeProblem(knownHosts);
  return tooLarge ?? `has no line for ${hostPattern(server)}; add ${scannedLines(server)}`;
}

/** The limits on known_hosts: far more than one Git host needs, and little enough to search within milliseconds. */
export const knownHostsLimits = { kib: 64, lines: 1000, patterns: 64, hostsLength: 4096 } as const;

/** The longest name in DNS. */
const MAX_HOST = 253;

/**
 * Returns why known_hosts is too large to be searched; undefined when it is not. Projects write it in their ConfigMap
 * and in their Secret, so this comes before any other work.
 */
export function knownHostsSizeProblem(knownHosts: string): string | undefined {
  const remedy = "keep only the lines of the repository's host";
  if (knownHosts.length > knownHostsLimits.kib * 1024) return `is longer than ${knownHostsLimits.kib} KiB; ${remedy}`;
  let lines = 1;
  for (let at = knownHosts.indexOf('\n'); at >= 0; at = knownHosts.indexOf('\n', at + 1)) lines++;
  return lines > knownHostsLimits.lines ? `has more than ${knownHostsLimits.lines} lines; ${remedy}` : undefined;
}

/** Returns why the names in a line of known_hosts are too many; undefined when they are not. */
function hostsProblem(hosts: string): string | undefined {
  if (hosts.length > knownHostsLimits.hostsLength)
    return `has more than ${knownHostsLimits.hostsLength} characters before the key type`;
  if (hosts.split(',').length > knownHostsLimits.patterns)
    return `has more than ${knownHostsLimits.patterns} host names`;
  return undefined;
}

/** One line of known_hosts. */
interface Entry {
  /** `cert-authority`, `revoked` or none. */
  marker: string | undefined;
  /** Comma-separated patterns, or one hashed name. */
  hosts: string;
  /** Undefined: the line has no valid one. */
  key: PublicKey | undefined;
}

/**
 * Returns the keys that known_hosts trusts for a host; none when it is too large. Like Flux, it skips lines that are not
 * host keys.
 */
export function hostKeys(knownHosts: string, host: SshHost): PublicKey[] {
  if (knownHostsSizeProblem(knownHosts) !== undefined || host.host.length > MAX_HOST) return [];
  return entriesOf(knownHosts).flatMap((entry) => {
    if (entry?.key === undefined || entry.marker === 'revoked' || !matches(entry.hosts, host)) return [];
    return [entry.key];
  });
}

/** Returns a line of known_hosts. */
export function hostKeyLine(host: SshHost, key: PublicKey): string {
  return `${hostPattern(host)} ${publicLine(key)}`;
}

/** Returns what each line of known_hosts says; undefined for an empty one or a comment. */
function entriesOf(knownHosts: string): (Entry | undefined)[] {
  return knownHosts.split('\n').map((line) => {
    const words = line.trim().split(/\s+/);
    if (words[0] === '' || words[0]?.startsWith('#') === true) return undefined;
    const marker = words[0]?.startsWith('@') === true ? words.shift()?.slice(1) : undefined;
    const hosts = words.shift() ?? '';
    return { marker, hosts, key: parsePublicLine(words.join(' ')) };
  });
}

function matches(hosts: string, host: SshHost): boolean {
  if (hostsProblem(hosts) !== undefined) return false;
  if (hosts.startsWith('|')) return matchesHash(hosts, host);
  const patterns = hosts.split(',');
  const isExcluded = patterns.some((pattern) => pattern.startsWith('!') && matchesPattern(pattern.slice(1), host));
  return !isExcluded && patterns.some((pattern) => matchesPattern(pattern, host));
}

/** Matches `[host]:port` or `host`, where `*` is any text and `?` one letter (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). */
function matchesPattern(pattern: string, { host, port }: SshHost): boolean {
  const [, bracketed, given] = /^\[(.+)\]:(\d+)$/.exec(pattern) ?? [];
  if (port !== (given === undefined ? 22 : Number(given))) return false;
  return matchesWildcards(bracketed ?? pattern, host);
}

/**
 * Users write the pattern, so the work is bounded: the texts between the stars must fit into the name, and each is
 * searched once, from where the one before it has ended.
 */
function matchesWildcards(pattern: string, name: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return first.length === name.length && fitsAt(first, name, 0);
  const fixed = first.length + last.length + others.reduce((sum, text) => sum + text.length, 0);
  if (fixed > name.length || !fitsAt(first, name, 0)) return false;
  let at = first.length;
  for (const text of others) {
    while (at + text.length <= name.length && !fitsAt(text, name, at)) at++;
    at += text.length;
  }
  return at + last.length <= name.length && fitsAt(last, name, name.length - last.length);
}

function fitsAt(text: string, name: string, start: number): boolean {
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '?' && text[at] !== name[start + at]) return false;
  }
  return true;
}

/** Matches `|1|salt|hash`: the HMAC-SHA1 of the name, as ssh-keygen -H writes it. */
function matchesHash(hashed: string, host: SshHost): boolean {
  const [, version, salt = '', digest] = hashed.split('|');
  return (
    version === '1' &&
    createHmac('sha1', Buffer.from(salt, 'base64')).update(hostPattern(host)).digest('base64') === digest
  );
}

/** Returns what is wrong with lines of known_hosts, or undefined. Empty lines and comments are valid. */
export function knownHostsProblem(text: string): string | undefined {
  const tooLarge = knownHostsSizeProblem(text);
  if (tooLarge !== undefined) return tooLarge;
  const entries = entriesOf(text);
  const bad = entries.findIndex((entry) => entry !== undefined && entry.key === undefined);
  if (bad >= 0) {
    // The line is never quoted: a private key pasted here must not end up in an error.
    return `has no valid host key in line ${bad + 1}; use lines as ssh-keyscan prints them (host, type, key), or scan`;
  }
  for (const [index, entry] of entries.entries()) {
    const tooMany = entry && hostsProblem(entry.hosts);
    if (tooMany !== undefined) return `${tooMany} in line ${index + 1}; keep only those of the repository's host`;
  }
  return entries.every((entry) => entry === undefined)
    ? 'contains no host key; use lines as ssh-keyscan prints them (host, type, key), or scan'
    : undefined;
}
