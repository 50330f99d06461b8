import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { repositoryId } from '../../shared/config/push.ts';
import type { PushCall } from '../../shared/runtime/webhook.ts';
import { hasCredentials, isAuthentic, repositoriesIn } from './call.ts';

const token = 'a-token-that-is-long-enough';
const hex = (by: string, algorithm = 'sha256') => createHmac(algorithm, by).update('{"a":1}').digest('hex');
const call = (headers: PushCall['headers'], body = '{"a":1}') => ({
  namespace: 'garden-foo',
  headers,
  body: Buffer.from(body),
});

describe('isAuthentic', () => {
  it.each([
    ['x-hub-signature-256', `sha256=${hex(token)}`],
    ['x-hub-signature', `sha256=${hex(token)}`],
    ['x-gitea-signature', hex(token)],
    ['x-signature', `sha256=${hex(token).toUpperCase()}`],
    ['x-gitlab-token', token],
  ])('accepts %s', (header, value) => {
    expect(isAuthentic(token, call({ [header]: value }))).toBe(true);
    expect(isAuthentic(token, call({ [header]: value }, '{"a":2}'))).toBe(header === 'x-gitlab-token');
    expect(isAuthentic('another-token-as-long', call({ [header]: value }))).toBe(false);
  });

  it('accepts nothing where there is no token, or a short one', () => {
    for (const none of ['', 'short']) {
      expect(isAuthentic(none, call({ 'x-gitlab-token': none }))).toBe(false);
      expect(isAuthentic(none, call({ 'x-hub-signature-256': `sha256=${hex(none)}` }))).toBe(false);
    }
  });

  it('takes no other hash, no list, and nothing without a header', () => {
    expect(isAuthentic(token, call({ 'x-hub-signature': `sha1=${hex(token, 'sha1')}` }))).toBe(false);
    expect(isAuthentic(token, call({ 'x-hub-signature-256': ['sha256=', hex(token)] }))).toBe(false);
    expect(isAuthentic(token, call({}))).toBe(false);
    expect(hasCredentials(call({ 'x-gitlab-token': '' }))).toBe(false);
    expect(hasCredentials(call({ 'x-signature': 'x' }))).toBe(true);
  });
});

describe('repositoriesIn', () => {
  const of = (payload: unknown) => repositoriesIn(call({}, JSON.stringify(payload)));
  const url = 'https://git.example.com/org/fleet.git';
  const fleet = repositoryId(url);

  it('finds what GitHub, Gitea and GitLab send', () => {
    expect(of({ repository: { clone_url: url, ssh_url: 'git@git.example.com:org/fleet.git' } })).toEqual([fleet]);
    expect(of({ project: { git_http_url: url, id: 1 }, repository: { name: 'fleet' } })).toEqual([fleet]);
    const payload = new URLSearchParams({ payload: JSON.stringify({ repository: { html_url: url } }) }).toString();
    expect(repositoriesIn(call({ 'content-type': 'application/x-www-form-urlencoded' }, payload))).toEqual([fleet]);
  });

  it('names each address of a host that has several', () => {
    const repository = { ssh_url: 'git@ssh.example.com:org/fleet', html_url: url };
    expect(new Set(of({ repository }))).toEqual(new Set([fleet, repositoryId('ssh://ssh.example.com/org/fleet')]));
  });

  it('takes anything else for all repositories', () => {
    for (const payload of [null, [], 'text', { repository: [] }, { repository: { clone_url: 7, ssh_url: 'fleet' } }]) {
      expect(of(payload)).toEqual(['*']);
    }
    expect(repositoriesIn(call({}, '{'))).toEqual(['*']);
  });
});
