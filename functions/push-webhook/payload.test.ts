import { expect, it } from 'vitest';
import { repositoryId } from '../../shared/config/push.ts';
import { repositoriesIn } from './payload.ts';

const of = (payload: unknown, headers = {}) => repositoriesIn(headers, Buffer.from(JSON.stringify(payload)));
const fleet = repositoryId('https://git.example.com/org/fleet');

it.each([
  [
    'GitHub',
    {
      repository: { clone_url: 'https://git.example.com/org/fleet.git', ssh_url: 'git@git.example.com:org/fleet.git' },
    },
  ],
  [
    'GitLab',
    { project: { git_http_url: 'https://git.example.com/org/fleet.git', id: 1 }, repository: { name: 'fleet' } },
  ],
  ['Bitbucket', { repository: { links: { html: { href: 'https://git.example.com/org/fleet' } } } }],
])('finds the repository in what %s sends', (_, payload) => {
  expect(of(payload)).toEqual([fleet]);
});

it('names each address of a host that has several', () => {
  const repository = { ssh_url: 'git@ssh.example.com:org/fleet', html_url: 'https://git.example.com/org/fleet' };
  expect(new Set(of({ repository }))).toEqual(new Set([fleet, repositoryId('ssh://ssh.example.com/org/fleet')]));
});

it.each([[null], [[]], ['text'], [{ repository: [] }], [{ repository: { clone_url: 7, ssh_url: 'fleet' } }]])(
  'takes %j for all repositories',
  (payload) => {
    expect(of(payload)).toEqual(['*']);
    expect(repositoriesIn({}, Buffer.from('{'))).toEqual(['*']);
  },
);
