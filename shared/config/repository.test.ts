import { expect, test } from 'vitest';
import { ConfigError } from '../errors.ts';
import { hostKey, sourceOf, withFluxConfig } from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import { fluxConfigObject } from './flux-config-map.ts';
import { fluxConfigRepository } from './repository.ts';

const read = (data: Record<string, string>) => fluxConfigRepository({ namespace: 'garden-foo', data });

test('the repository with its defaults', () => {
  expect(read({ repositoryUrl: 'https://github.com/org/fleet' })).toEqual({
    url: 'https://github.com/org/fleet',
    type: 'public',
    sshKeyType: 'ed25519',
  });
});

test('everything that a key pair needs', () => {
  const knownHosts = hostKey('github.com');
  const data = { repositoryUrl: 'git@github.com:org/fleet', repositoryType: 'private', sshKeyType: 'rsa', knownHosts };
  expect(read(data)).toEqual({ url: 'ssh://git@github.com/org/fleet', type: 'private', sshKeyType: 'rsa', knownHosts });
});

test('the same URL as in the effective config', () => {
  const data = { repositoryUrl: ' git@github.com:/org/fleet ', repositoryType: 'private' };
  expect(sourceOf(effectiveConfig(withFluxConfig(data))).spec).toMatchObject({ url: read(data)?.url });
});

test('no repository, no keys', () => {
  expect(read({ fluxVersion: 'v2.9.4' })).toBeUndefined();
});

test('a typo in another key does not keep a key pair from being made', () => {
  expect(read({ repositoryUrl: 'https://github.com/org/fleet', syncmode: 'Onec' })).toBeDefined();
});

test('what is wrong with the repository is told as in the effective config', () => {
  const data = { repositoryUrl: 'ssh://git@github.com/org/fleet', knownHosts: 'x' };
  const thrown = (action: () => unknown): unknown => {
    try {
      return action();
    } catch (error) {
      return error;
    }
  };
  const error = thrown(() => read(data));
  expect(error).toBeInstanceOf(ConfigError);
  expect(error).toEqual(thrown(() => effectiveConfig(withFluxConfig(data))));
});

test.each([
  ['git.example.com', 'ssh://git@git.example.com/org/fleet'],
  ['*.example.com,other', 'ssh://git@git.example.com/org/fleet'],
  ['@cert-authority *.example.com', 'ssh://git@git.example.com/org/fleet'],
  ['[git.example.com]:2222', 'ssh://git@git.example.com:2222/org/fleet'],
])('known_hosts with a line for %s are good for %s', (hosts, repositoryUrl) => {
  const knownHosts = `# comment\n\n${hostKey(hosts)} comment\n`;
  expect(read({ repositoryUrl, repositoryType: 'private', knownHosts })?.knownHosts).toBe(knownHosts.trim());
});

test('a ConfigMap is named without the namespace that its file does not say', () => {
  expect(fluxConfigObject('garden-foo')).toBe('ConfigMap garden-foo/flux-config');
  expect(fluxConfigObject('')).toBe('ConfigMap flux-config');
});
