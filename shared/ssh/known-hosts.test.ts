import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostKeyLine, hostKeys, hostPattern, knownHostsProblem, sshHost } from './known-hosts.ts';
import { parsePublicLine, publicLine } from './public-key.ts';

const line = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';
const key = parsePublicLine(line);
if (key === undefined) throw new Error('the test key is invalid');
const host = sshHost('ssh://git@git.example.org/repository');
const other = sshHost('ssh://git@git.example.org:2222/repository');
/** As `ssh-keygen -H` hashes `git.example.org` and `[git.example.org]:2222`. */
const hashed = '|1|mFFubmvEMgqDVki/3RkFeqm5Fss=|EDinH0C3i8c//Dd8dVG/bz4GXS0=';
const hashedWithPort = '|1|4vnmFNm4mLi8B97V4HnxESl2leo=|bXA0wUbcVw/bzLKqJ0v0SwxcmoM=';

test.each([
  ['ssh://git@git.example.org/repository', 'git.example.org'],
  ['ssh://git@git.example.org:22/repository', 'git.example.org'],
  ['ssh://git@git.example.org:2222/repository', '[git.example.org]:2222'],
  ['ssh://git@Git.Example.org/repository', 'Git.Example.org'],
  ['ssh://git@192.0.2.1/repository', '192.0.2.1'],
  ['ssh://git@[2001:db8::1]/repository', '[2001:db8::1]:22'],
  ['ssh://git@[2001:db8::1]:2222/repository', '[2001:db8::1]:2222'],
])('names the server of %s in known_hosts as %s', (url, pattern) => {
  expect(hostPattern(sshHost(url))).toBe(pattern);
  expect(hostKeys(hostKeyLine(sshHost(url), key), sshHost(url))).toEqual([key]);
});

test.each([
  ['the host', 'git.example.org'],
  ['one of several', 'other.example.org,git.example.org'],
  ['a pattern', '*.example.org'],
  ['a pattern with one letter', 'gi?.example.org'],
  ['a certificate authority', '@cert-authority *.example.org'],
])('finds a key for %s', (_, hosts) => {
  expect(hostKeys(`# comment\n\n${hosts} ${line} comment\n`, host)).toEqual([key]);
  expect(hostKeys(`${hosts} ${line}\n`, other)).toEqual([]);
});

test.each([
  ['another host', `example.org ${line}`],
  ['another port', `[git.example.org]:2222 ${line}`],
  ['a host that is excluded', `*.example.org,!git.example.org ${line}`],
  ['a revoked key', `@revoked git.example.org ${line}`],
  ['a comment', `# git.example.org ${line}`],
  ['a broken key', 'git.example.org ssh-ed25519 AAAA'],
  ['a key that says another type', `git.example.org ${line.replace('ssh-ed25519', 'ssh-rsa')}`],
  ['the hash of another port', `${hashedWithPort} ${line}`],
])('ignores a line for %s', (_, text) => {
  expect(hostKeys(text, host)).toEqual([]);
});

test('recognizes hashed names', () => {
  expect(hostKeys(`${hashed} ${line}`, host)).toEqual([key]);
  expect(hostKeys(`${hashedWithPort} ${line}`, other)).toEqual([key]);
});

test('finds every line that it writes, next to any text', () => {
  fc.assert(
    fc.property(fc.domain(), fc.integer({ min: 1, max: 65535 }), fc.string(), (name, port, noise) => {
      const server = { host: name, port };
      const text = `${noise}\n${hostKeyLine(server, key)}\n`;
      expect(hostKeys(text, server).map((found) => publicLine(found))).toContain(publicLine(key));
    }),
  );
});

const seed = { seed: 20_261_122, numRuns: 500 };
const longest = { host: 'a'.repeat(253), port: 22 };

const found = (text: string, host = longest) => hostKeys(text, host).length;

const hostile: Record<string, [text: string, problem: string]> = {
  'a pattern of 58 KiB': [
    `*${'a'.repeat(58 * 1024)}b ${line}`,
    "has more than 4096 characters before the key type in line 1; keep only those of the repository's host",
  ],
  'a file of a megabyte': [
    `*${'a'.repeat(1024 * 1024)}b ${line}`,
    "is longer than 64 KiB; keep only the lines of the repository's host",
  ],
  'fifty thousand lines': [
    '\n'.repeat(50_000),
    "has more than 1000 lines; keep only the lines of the repository's host",
  ],
  'thousands of names in a line': [
    `git.example.org ${line}\n${'a,'.repeat(1000)}b ${line}`,
    "has more than 64 host names in line 2; keep only those of the repository's host",
  ],
  'a key of 60 KiB': [
    `a ssh-rsa ${Buffer.from(`\0\0\0\x07ssh-rsa${'a'.repeat(45_000)}`, 'latin1').toString('base64')}`,
    'has no valid host key in line 1; use lines as ssh-keyscan prints them (host, type, key), or scan',
  ],
};

test.each(Object.entries(hostile))('refuses %s with one sentence', (_, [text, problem]) => {
  expect(knownHostsProblem(text)).toBe(problem);
  expect(found(text)).toBe(0);
});

test('searches the largest files that it accepts in time', () => {
  const text = `${`${'*a'.repeat(126)}b,`.repeat(14)}*${'a'.repeat(126)}b ${line}\n`.repeat(16);
  for (const accepted of [text, `${'*'.repeat(4000)} ${line}\n`.repeat(15)]) {
    expect(knownHostsProblem(accepted)).toBeUndefined();
    expect(found(accepted)).toBe(accepted === text ? 0 : 15);
  }
});

test('finds no key for a host whose name no DNS can hold', () => {
  expect(found(`* ${line}`, { host: 'a'.repeat(100_000), port: 22 })).toBe(0);
});

test('matches stars and question marks like a regular expression', () => {
  const part = fc.constantFrom('a', 'b', '*', '?', '.', 'ab');
  const pattern = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
  const name = fc.array(fc.constantFrom('a', 'b', '.'), { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(pattern, name, (text, host) => {
      fc.pre(text !== '');
      const expected = new RegExp(`^${text.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')}$`);
      expect(hostKeys(`${text} ${line}`, { host, port: 22 }).length).toBe(expected.test(host) ? 1 : 0);
    }),
    seed,
  );
});

test('reads any text as known_hosts, and any line as a key, without failing', () => {
  const words = fc.constantFrom('@revoked', '|1|', '*', '!', 'a', ',', '[a]:22', ' ', '\n', '#', line, '\0', 'é', '"');
  fc.assert(
    fc.property(fc.array(words, { maxLength: 40 }), fc.string(), (parts, noise) => {
      const text = `${parts.join('')}${noise}`;
      expect(found(text, { host: 'a', port: 22 })).toBeGreaterThanOrEqual(0);
      expect(typeof (knownHostsProblem(text) ?? '')).toBe('string');
      parsePublicLine(text);
    }),
    seed,
  );
});
