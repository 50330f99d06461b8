import { describe, expect, it, test } from 'vitest';
import { IMAGE, isIncluded, locationOf, matches, patternOf, registryPattern, urlPattern } from './location.ts';

const isAllowed = (url: string, ...entries: string[]) => {
  const location = locationOf(url);
  const patterns = entries.map((entry) => {
    const pattern = patternOf(entry);
    if (pattern === undefined) throw new Error(`${entry} is not a pattern`);
    return pattern;
  });
  return location !== undefined && isIncluded(location, patterns);
};

describe('a pattern for URLs', () => {
  it.each([
    ['https://git.example.com/team/fleet', 'https://git.example.com/team/fleet'],
    ['https://git.example.com/team/fleet.git', 'https://git.example.com/team/fleet'],
    ['https://git.example.com/team/fleet/', 'https://git.example.com/team/fleet.git'],
    ['https://GIT.Example.COM/team/fleet', 'https://git.example.com/team/**'],
    ['https://git.example.com./team/fleet', 'https://git.example.com/team/**'],
    ['https://git.example.com:443/team/fleet', 'https://git.example.com/**'],
    ['https://git.example.com/team/fleet', 'https://git.example.com:443/**'],
    ['https://git.example.com:8443/team/fleet', 'https://git.example.com:*/**'],
    ['https://git.example.com/te%61m/fleet', 'https://git.example.com/team/fleet'],
    ['https://git.example.com/my%20team/fleet', 'https://git.example.com/my%20team/**'],
    ['https://git.example.com/a/b/c/fleet', 'https://git.example.com/a/**'],
    ['https://git.example.com/a', 'https://git.example.com/a/**'],
    ['https://git.example.com/team-1/fleet', 'https://git.example.com/team-*/fleet'],
    ['https://a.b.example.com/fleet', 'https://*.example.com/**'],
    ['ssh://git@git.example.com/team/fleet', 'ssh://git.example.com/team/**'],
    ['ssh://git@git.example.com:22/team/fleet', 'git.example.com/team/**'],
    ['oci://GHCR.io/org/fleet', 'oci://ghcr.io/org/**'],
    ['oci://org/fleet', 'oci://docker.io/org/**'],
    ['oci://index.docker.io/org/fleet', 'oci://docker.io/org/**'],
    ['oci://docker.io/org/fleet', 'oci://index.docker.io/org/**'],
    ['oci://[2001:db8::1]:5000/fleet', 'oci://[2001:db8::1]:5000/**'],
    ['bucket://s3.example.com/fleet', 'bucket://s3.example.com/fleet'],
    ['https://anything.example/x', 'https://*/**'],
    // Git servers serve a repository under both names.
    ['ssh://git@git.example.com/team/fleet.git', 'git.example.com/team/fleet'],
    ['http://git.example.com/team/fleet', 'git.example.com/team/fleet.git'],
    ['https://git.example.com/team.git/fleet', 'https://git.example.com/team.git/**'],
    ['https://git.example.com/team', 'https://git.example.com/team.git/**'],
    ['oci://registry.example.com/team/fleet.git', 'oci://registry.example.com/team/fleet.git'],
    ['bucket://s3.example.com/fleet.git', 's3.example.com/fleet.git'],
  ])('includes %s in %s', (url, entry) => {
    expect(isAllowed(url, entry)).toBe(true);
  });

  it.each([
    ['https://git.example.com.evil.example/team/fleet', 'https://git.example.com/**'],
    ['https://evil.example/git.example.com/team', 'https://git.example.com/**'],
    ['https://evilexample.com/fleet', 'https://*.example.com/**'],
    ['https://example.com/fleet', 'https://*.example.com/**'],
    ['https://evil.example/.example.com', 'https://*.example.com/**'],
    ['https://git.example.com:8443/team/fleet', 'https://git.example.com/**'],
    ['http://git.example.com/team/fleet', 'https://git.example.com/**'],
    ['http://git.example.com:443/team/fleet', 'https://git.example.com/**'],
    ['ssh://git@git.example.com/team/fleet', 'https://git.example.com/**'],
    ['https://git.example.com/teammate/fleet', 'https://git.example.com/team/**'],
    ['https://git.example.com/team', 'https://git.example.com/team/fleet'],
    ['https://git.example.com/team/other/fleet', 'https://git.example.com/team/*'],
    ['https://git.example.com/Team/fleet', 'https://git.example.com/team/**'],
    // A user is not a host, whatever it looks like.
    ['https://git.example.com@evil.example/team/fleet', 'https://git.example.com/**'],
    ['ssh://git.example.com@evil.example/team/fleet', 'ssh://git.example.com/**'],
    // Only Git servers serve a repository under two names.
    ['oci://registry.example.com/team/fleet.git', 'oci://registry.example.com/team/fleet'],
    ['oci://registry.example.com/team/fleet', 'oci://registry.example.com/team/fleet.git'],
    ['bucket://s3.amazonaws.com/fleet.git', 'bucket://s3.amazonaws.com/fleet'],
    ['bucket://s3.amazonaws.com/fleet', 's3.amazonaws.com/fleet.git'],
    ['https://git.example.com/team/fleet', 'https://git.example.com/team.git/**'],
    // Docker Hub, and not a registry of that name.
    ['oci://registry/fleet', 'oci://registry.example.com/**'],
    ['oci://localhost/org/fleet', 'oci://localhost:443/org/**'],
  ])('does not include %s in %s', (url, entry) => {
    expect(isAllowed(url, entry)).toBe(false);
  });
});

it.each([
  'https://git.example.com/team/../other/fleet',
  'https://git.example.com/team/./fleet',
  'https://git.example.com/team/%2e%2e/other/fleet',
  'https://git.example.com/team/..;x/other/fleet',
  'https://git.example.com/team%2Ffleet',
  'https://git.example.com/team%5Cfleet',
  'https://git.example.com/team/%252e%252e/fleet',
  'https://git.example.com/team/%zz',
  'https://git.example.com/team/fleet%00',
  'https://git.example.com//team/fleet',
  'https://git.example.com/team//fleet',
  'https://git.example.com/team/fleet?x=/../../other',
  'https://git.example.com/team/fleet#x',
  'https://git.example.com\\@evil.example/team',
  'https://git.example.com\\.evil.example/team',
  'https://user:pass@git.example.com/team',
  'https://a@b@git.example.com/team',
  'https://%67it.example.com/team',
  'https://g\u0131t.example.com/team',
  'https://git\u3002example.com/team',
  'https://git.example.com:x/team',
  'https://git.example.com:/team',
  'https://git.example.com:443:443/team',
  'https://git.example.com../team',
  'https://:443/team',
  'https:///team',
  'https://[::1/team',
  'https://git.example.com/\tteam',
  'git@git.example.com:team/fleet',
  'HTTPS://git.example.com/team',
  '',
])('a URL that readers understand in different ways is not compared: %j', (url) => {
  expect(locationOf(url)).toBeUndefined();
});

describe('an entry of the lists', () => {
  it.each([
    'https://',
    'https://user@git.example.com/**',
    'https://git.example.com/**/x',
    'https://git.example.com:x/',
  ])('is refused: %s', (entry) => {
    expect(urlPattern(entry)).toContain('is not a pattern for URLs');
  });

  it.each(['https://git.example.com/**', 'git.example.com/team-*/**', 'ssh://*:*/**', 'bucket://s3.example.com/a-*'])(
    'is accepted: %s',
    (entry) => {
      expect(urlPattern(entry)).toBeUndefined();
    },
  );

  it('of registries has no scheme', () => {
    expect(registryPattern('oci://ghcr.io/fluxcd')).toContain('is not a pattern for image prefixes');
    expect(registryPattern('ghcr.io/fluxcd')).toBeUndefined();
  });
});

describe('a prefix of images', () => {
  const includes = (prefix: string, entry: string) => {
    const [location, pattern] = [locationOf(`${IMAGE}://${prefix}`), patternOf(entry, IMAGE)];
    return location !== undefined && pattern !== undefined && isIncluded(location, [pattern]);
  };

  it.each([
    ['GHCR.IO/fluxcd', 'ghcr.io/fluxcd', true],
    ['ghcr.io:443/fluxcd', 'ghcr.io/fluxcd', true],
    ['fluxcd', 'docker.io/fluxcd', true],
    ['registry-1.docker.io/fluxcd', 'docker.io/**', true],
    ['localhost/fluxcd', 'docker.io/**', false],
    ['registry.example.com', 'registry.example.com/**', true],
    ['registry.example.com/a/b', 'registry.example.com/**', true],
    ['registry.example.com/a/b', 'registry.example.com/a', false],
    ['registry.example.com:5000/a', 'registry.example.com/a', false],
    ['evil.example/registry.example.com/a', 'registry.example.com/**', false],
    ['registry.example.com/fluxcd.git', 'registry.example.com/fluxcd', false],
  ])('%s in %s: %s', (prefix, entry, expected) => {
    expect(includes(prefix, entry)).toBe(expected);
  });
});

test('stars are searched from left to right, once', () => {
  expect(matches('a*b*c', 'aXbXbXc')).toBe(true);
  expect(matches('a*b*c', 'aXcXc')).toBe(false);
  expect(matches('ab*bc', 'abc')).toBe(false);
  expect(matches('*', '')).toBe(true);
  // With backtracking, this would not end.
  expect(matches(`${'*a'.repeat(2000)}b`, 'a'.repeat(4096))).toBe(false);
});
