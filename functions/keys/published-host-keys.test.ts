import { expect, test } from 'vitest';
import { sshHost } from '../../shared/ssh/known-hosts.ts';
import { fingerprint } from '../../shared/ssh/public-key.ts';
import { publishedHostKeys, wellKnownHosts } from './published-host-keys.ts';

/** Fingerprints as the operators publish them; the sources are named next to the keys. */
const fingerprints: Record<string, string[]> = {
  'ssh://git@github.com/org/repository': [
    'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU',
    'SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM',
    'SHA256:uNiVztksCsDhcc0u9e8BujQXVUpKZIDTMczCvj3tD2s',
  ],
  'ssh://git@gitlab.com/org/repository': [
    'SHA256:eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8',
    'SHA256:HbW3g8zUjNSksFbqTiUWPWg2Bq1x8xdGUrliXFzSnUw',
    'SHA256:ROQFvPThGrW4RuWLoL9tq9I9zJ42fK4XywyRtbOz/EQ',
  ],
  'ssh://git@bitbucket.org/org/repository': [
    'SHA256:ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM',
    'SHA256:FC73VB6C4OQLSCrjEayhMp9UMxS97caD/Yyi2bhW/J0',
    'SHA256:46OSHA1Rmj8E8ERTC6xkNcmGOw9oFxYr0WF6zWW8l1E',
  ],
  'ssh://git@ssh.dev.azure.com/v3/org/project/repository': ['SHA256:ohD8VZEXGWo6Ez8GSEJQ9WpafgLFsOfLOtGGQCQo6Og'],
  'ssh://git@codeberg.org/org/repository': [
    'SHA256:mIlxA9k46MmM6qdJOdMnAQpzGxF4WIVVL+fj+wZbw0g',
    'SHA256:6QQmYi4ppFS4/+zSZ5S4IU+4sa6rwvQ4PbhCtPEBekQ',
  ],
};
const aliases: Record<string, string> = {
  'ssh://git@ssh.github.com:443/org/repository': 'ssh://git@github.com/org/repository',
  'ssh://org@vs-ssh.visualstudio.com/v3/org/project/repository':
    'ssh://git@ssh.dev.azure.com/v3/org/project/repository',
  'ssh://git@GitHub.com/org/repository': 'ssh://git@github.com/org/repository',
};

const shown = (url: string) => publishedHostKeys(sshHost(url)).map(fingerprint);

test.each(Object.entries(fingerprints))('returns the keys of %s with the published fingerprints', (url, expected) => {
  expect(shown(url)).toEqual(expected);
});

test.each(Object.entries(aliases))('returns the same keys for %s as for %s', (url, same) => {
  expect(shown(url)).toEqual(fingerprints[same]);
});

test('covers every well-known host', () => {
  const hosts = [...Object.keys(fingerprints), ...Object.keys(aliases)].map((url) => sshHost(url).host.toLowerCase());
  for (const name of wellKnownHosts) expect(hosts).toContain(name.replace(/^\[(.*)\]:\d+$/, '$1'));
});

test.each([
  'ssh://git@git.example.org/repository',
  'ssh://git@github.com:2222/repository',
  'ssh://git@evil-github.com/r',
])('returns no keys for %s', (url) => {
  expect(shown(url)).toEqual([]);
});
