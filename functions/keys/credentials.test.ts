import { expect, test } from 'vitest';
import { missingCredentials } from './credentials.ts';

const [username, password, bearerToken] = ['reader', 'marked-secret', 'marked-token'];

test.each([
  [{ username, password }],
  [{ bearerToken }],
  [{ bearerToken, password }],
  [{ 'tls.crt': 'certificate', 'tls.key': 'key' }],
])('accepts %j', (data) => {
  expect(missingCredentials('garden-foo', data)).toBeUndefined();
});

test.each([
  [undefined, 'does not exist; create it'],
  [{}, 'has no credentials; add username and password'],
  [{ 'ca.crt': 'authority' }, 'has no credentials'],
  [{ username }, 'password is missing'],
  [{ password }, 'username is missing'],
])('reports which credentials %j lacks', (data, sentence) => {
  const notice = missingCredentials('garden-foo', data);
  expect(notice).toMatchObject({ type: 'Warning', reason: 'CredentialsMissing' });
  expect(notice?.message).toContain('Secret garden-foo/flux-source: ');
  expect(notice?.message).toContain(sentence);
  expect(notice?.message).not.toContain(password);
});
