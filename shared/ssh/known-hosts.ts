import { createHmac } from 'node:crypto';
import { hostPattern, type SshHost } from './host.ts';
import { type PublicKey, parsePublicLine, publicLine } from './public-key.ts';

/** One line of known_hosts with a key. */
interface Entry {
  /** `cert-authority`, `revoked` or none. */
  marker: string | undefined;
  /** Comma-separated patterns, or one hashed name. */
  hosts: string;
  key: PublicKey;
}

/** Returns the keys that known_hosts trusts for a host. Like Flux, it skips lines that are not host keys. */
export function hostKeys(knownHosts: string, host: SshHost): PublicKey[] {
  return entries(knownHosts)
    .filter(({ marker, hosts }) => marker !== 'revoked' && matches(hosts, host))
    .map(({ key }) => key);
}

/** Returns a line of known_hosts. */
export function hostKeyLine(host: SshHost, key: PublicKey): string {
  return `${hostPattern(host)} ${publicLine(key)}`;
}

function entries(knownHosts: string): Entry[] {
  return knownHosts.split('\n').flatMap((line) => {
    const words = line.trim().split(/\s+/);
    const marker = words[0]?.startsWith('@') === true ? words.shift()?.slice(1) : undefined;
    const hosts = words.shift();
    const key = parsePublicLine(words.join(' '));
    return hosts === undefined || hosts.startsWith('#') || key === undefined ? [] : [{ marker, hosts, key }];
  });
}

function matches(hosts: string, host: SshHost): boolean {
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

/** Never backtracks into earlier stars: users write the pattern, and a regular expression could take exponential time. */
function matchesWildcards(pattern: string, name: string): boolean {
  let [at, star, resume] = [0, -1, 0];
  for (let position = 0; position < name.length; ) {
    if (pattern[at] === '*') {
      star = at++;
      resume = position;
    } else if (pattern[at] === '?' || pattern[at] === name[position]) {
      at++;
      position++;
    } else if (star >= 0) {
      at = star + 1;
      position = ++resume;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(at));
}

/** Matches `|1|salt|hash`: the HMAC-SHA1 of the name, as ssh-keygen -H writes it. */
function matchesHash(hashed: string, host: SshHost): boolean {
  const [, version, salt = '', digest] = hashed.split('|');
  return (
    version === '1' &&
    createHmac('sha1', Buffer.from(salt, 'base64')).update(hostPattern(host)).digest('base64') === digest
  );
}
