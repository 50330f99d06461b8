import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostKeyLine, hostKeys, hostPattern, sshHost } from './known-hosts.ts';
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
