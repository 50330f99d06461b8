import { hostsProblem, knownHostsSizeProblem } from '../ssh/known-hosts.ts';
import { parsePublicLine } from '../ssh/public-key.ts';

/** Returns what is wrong with lines of known_hosts, or undefined. Empty lines and comments are valid. */
export function knownHostsProblem(text: string): string | undefined {
  const tooLarge = knownHostsSizeProblem(text);
  if (tooLarge !== undefined) return tooLarge;
  const lines = text.split('\n').map((line) => line.trim());
  const bad = lines.findIndex((line) => !isBlank(line) && !isHostKey(line));
  if (bad >= 0) {
    // The line is never quoted: a private key pasted here must not end up in an error.
    return `has no valid host key in line ${bad + 1}; use lines as ssh-keyscan prints them (host, type, key), or scan`;
  }
  for (const [index, line] of lines.entries()) {
    const tooMany = isBlank(line) ? undefined : hostsProblem(hostsOf(line));
    if (tooMany !== undefined) return `${tooMany} in line ${index + 1}; keep only those of the repository's host`;
  }
  return lines.every(isBlank)
    ? 'contains no host key; use lines as ssh-keyscan prints them (host, type, key), or scan'
    : undefined;
}

function isBlank(line: string): boolean {
  return line === '' || line.startsWith('#');
}

function hostsOf(line: string): string {
  const [first = '', second = ''] = line.split(/\s+/, 2);
  return first.startsWith('@') ? second : first;
}

/** `[marker] hosts type base64 [comment]` */
function isHostKey(line: string): boolean {
  const words = line.split(/\s+/);
  const key = words[0]?.startsWith('@') === true ? words.slice(2) : words.slice(1);
  return parsePublicLine(key.join(' ')) !== undefined;
}
