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
