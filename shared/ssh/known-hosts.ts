import { createHmac } from 'node:crypto';
import { hostPattern, type SshHost } from './host.ts';
import { type PublicKey, parsePublicLine, publicLine } from './public-key.ts';

/** One line of known_hosts that carries a key. */
interface Entry {
  /** `cert-authority`, `revoked` or none. */
  marker: string | undefined;
  /** Comma-separated patterns, or one hashed name. */
  hosts: string;
  key: PublicKey;
}

/** The keys that known_hosts trusts for a host; lines that are no host keys are skipped, as Flux does. */
export function hostKeys(knownHosts: string, host: SshHost): PublicKey[] {
  return entries(knownHosts)
    .filter(({ marker, hosts }) => marker !== 'revoked' && matches(hosts, host))
    .map(({ key }) => key);
}

/** A line of known_hosts. */
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
  const refused = patterns.some((pattern) => pattern.startsWith('!') && matchesPattern(pattern.slice(1), host));
  return !refused && patterns.some((pattern) => matchesPattern(pattern, host));
}

/** `[host]:port` or `host`, where `*` and `?` stand for any letters or one (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). */
function matchesPattern(pattern: string, { host, port }: SshHost): boolean {
  const [, bracketed, given] = /^\[(.+)\]:(\d+)$/.exec(pattern) ?? [];
  if (port !== (given === undefined ? 22 : Number(given))) return false;
  return matchesWildcards(bracketed ?? pattern, host);
}

/** Without backtracking into earlier stars: pattern and name are a stranger's, and a regular expression could take ages. */
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

/** `|1|salt|hash`: HMAC-SHA1 of the name, as ssh-keygen -H writes it. */
function matchesHash(hashed: string, host: SshHost): boolean {
  const [, version, salt = '', digest] = hashed.split('|');
  return (
    version === '1' &&
    createHmac('sha1', Buffer.from(salt, 'base64')).update(hostPattern(host)).digest('base64') === digest
  );
}
