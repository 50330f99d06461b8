import { createHmac } from 'node:crypto';

const KEY_TYPES =
  /^(ssh-(ed25519|rsa|dss)|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh\.com|sk-ecdsa-sha2-nistp256@openssh\.com)$/;

/** What is wrong with lines of known_hosts, or undefined. Lines that are empty or comments are fine. */
export function knownHostsProblem(text: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const bad = lines.findIndex((line) => line !== '' && !line.startsWith('#') && !isHostKey(line));
  if (bad >= 0) {
    // The line itself is never shown: a private key pasted here must not travel into an error.
    return `line ${bad + 1} is not a host key; write lines as ssh-keyscan prints them (host, type, key), or scan`;
  }
  return lines.some((line) => line !== '' && !line.startsWith('#'))
    ? undefined
    : 'has no host key; write lines as ssh-keyscan prints them (host, type, key), or scan';
}

/** `[marker] hosts type base64 [comment]`, and the key says its own type first (RFC 4253, section 6.6). */
function isHostKey(line: string): boolean {
  const words = line.split(/\s+/);
  const [, type, key] = words[0]?.startsWith('@') === true ? words.slice(1) : words;
  if (type === undefined || key === undefined || !KEY_TYPES.test(type)) return false;
  const blob = Buffer.from(key, 'base64');
  if (blob.length < 4) return false;
  return blob.subarray(4, 4 + blob.readUInt32BE(0)).toString('latin1') === type;
}

/**
 * Whether any line of known_hosts is for the host of an `ssh://` URL: by name, wildcard or hash, with the port where
 * it is not 22 (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
 */
export function knowsHost(text: string, url: URL): boolean {
  const port = url.port === '' || url.port === '22' ? undefined : url.port;
  // URLs of the scheme ssh keep the case of their host.
  const host = url.hostname.toLowerCase();
  const name = port === undefined ? host : `[${host}]:${port}`;
  return text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map((words) => (words[0]?.startsWith('@') === true ? words[1] : words[0]) ?? '')
    .some((hosts) =>
      hosts.startsWith('|1|') ? isHashOf(hosts, name) : hosts.split(',').some((pattern) => matches(pattern, name)),
    );
}

function isHashOf(hashed: string, name: string): boolean {
  const [, , salt, hash] = hashed.split('|');
  return (
    createHmac('sha1', Buffer.from(salt ?? '', 'base64'))
      .update(name)
      .digest('base64') === hash
  );
}

/** `*` stands for any text, `?` for one character; in linear steps, because the pattern is a stranger's. */
function matches(pattern: string, name: string): boolean {
  let at = 0;
  let star: { pattern: number; name: number } | undefined;
  for (let index = 0; index < name.length; ) {
    if (pattern[at] === '*') star = { pattern: ++at, name: index };
    else if (pattern[at] === '?' || pattern[at]?.toLowerCase() === name[index]) [at, index] = [at + 1, index + 1];
    else if (star === undefined) return false;
    else [at, index] = [star.pattern, ++star.name];
  }
  return /^\**$/.test(pattern.slice(at));
}
