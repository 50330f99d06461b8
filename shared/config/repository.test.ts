import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../runtime/errors.ts';
import { hostKey, sourceOf, withFluxConfig } from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import { knowsHost } from './known-hosts.ts';
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

describe('known_hosts', () => {
  const hashed = (name: string) => {
    const salt = Buffer.from('01234567890123456789');
    return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`;
  };

  test.each([
    ['git.example.com', 'ssh://git@git.example.com/org/fleet', true],
    ['git.example.com', 'ssh://git@Git.Example.com:22/org/fleet', true],
    ['other.example.com,git.example.com', 'ssh://git@git.example.com/org/fleet', true],
    ['*.example.com', 'ssh://git@git.example.com/org/fleet', true],
    ['g?t.*', 'ssh://git@git.example.com/org/fleet', true],
    ['@cert-authority *.example.com', 'ssh://git@git.example.com/org/fleet', true],
    ['[git.example.com]:2222', 'ssh://git@git.example.com:2222/org/fleet', true],
    ['git.example.com', 'ssh://git@git.example.com:2222/org/fleet', false],
    [hashed('git.example.com'), 'ssh://git@git.example.com/org/fleet', true],
    [hashed('[git.example.com]:2222'), 'ssh://git@git.example.com:2222/org/fleet', true],
    [hashed('other.example.com'), 'ssh://git@git.example.com/org/fleet', false],
    ['example.com', 'ssh://git@git.example.com/org/fleet', false],
    ['*.example.org', 'ssh://git@git.example.com/org/fleet', false],
    ['git?.example.com', 'ssh://git@git.example.com/org/fleet', false],
  ])('%s for %s: %s', (hosts, url, known) => {
    expect(knowsHost(`# comment\n${hostKey(hosts)}`, new URL(url))).toBe(known);
  });
});
