import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
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
  [{ username, password: `${password}\n` }, 'password ends with a line break, which Flux would send along; write it'],
  [{ username: `${username}\r\n`, password }, 'username ends with a line break'],
  [{ bearerToken: `${bearerToken}\n` }, 'bearerToken ends with a line break'],
])('reports what is wrong with the credentials %j', (data, sentence) => {
  const notice = missingCredentials('garden-foo', data);
  expect(notice).toMatchObject({ type: 'Warning', reason: 'CredentialsMissing' });
  expect(notice?.message).toContain('Secret garden-foo/flux-source: ');
  expect(notice?.message).toContain(sentence);
  for (const secret of [password, bearerToken]) expect(notice?.message).not.toContain(secret);
});

describe('of a GitHub App', () => {
  const key = (type: 'pkcs1' | 'pkcs8') =>
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type, format: 'pem' }).toString();
  const githubAppPrivateKey = key('pkcs1');
  const whole = { githubAppID: '1', githubAppInstallationID: '2', githubAppPrivateKey };
  const { githubAppInstallationID: _, ...owned } = { ...whole, githubAppInstallationOwner: 'org' };
  const ed25519 = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const lines = githubAppPrivateKey.split('\n');

  it.each([whole, owned, { ...whole, githubAppPrivateKey: key('pkcs8') }])('accepts complete keys', (data) => {
    expect(missingCredentials('garden-foo', data, 'github')).toBeUndefined();
  });

  it.each<[Record<string, string> | undefined, string]>([
    [undefined, 'does not exist; create it with githubAppID, githubAppInstallationID and githubAppPrivateKey'],
    [{ username, password }, 'githubAppID is missing'],
    [{ githubAppID: '1', githubAppPrivateKey }, 'githubAppInstallationID is missing'],
    [
      { ...whole, githubAppInstallationOwner: 'org' },
      'has both githubAppInstallationID and githubAppInstallationOwner',
    ],
    [{ ...whole, githubAppID: 'my-app' }, 'githubAppID is not a number'],
    [{ ...whole, githubAppID: '1\n' }, 'githubAppID has a line break or a space'],
    [{ ...whole, githubAppInstallationID: ' 2' }, 'githubAppInstallationID has a line break or a space'],
    [{ ...whole, githubAppID: '9'.repeat(19) }, 'githubAppID is not a number'],
    [{ githubAppID: '1', githubAppInstallationID: '2' }, 'githubAppPrivateKey is missing'],
    [
      { ...whole, githubAppPrivateKey: lines.join(' ') },
      'githubAppPrivateKey is not a private key in PEM form; add the whole file',
    ],
    [{ ...whole, githubAppPrivateKey: 'marked-secret' }, 'githubAppPrivateKey is not a private key in PEM form'],
    [
      { ...whole, githubAppPrivateKey: [...lines.slice(0, 2), ...lines.slice(-2)].join('\n') },
      'githubAppPrivateKey is damaged',
    ],
    [{ ...whole, githubAppPrivateKey: ed25519 }, 'githubAppPrivateKey is no RSA key'],
  ])('says what is wrong', (data, sentence) => {
    const notice = missingCredentials('garden-foo', data, 'github');
    expect(notice).toMatchObject({ type: 'Warning', reason: 'CredentialsMissing' });
    expect(notice?.message).toContain(`Secret garden-foo/flux-source: ${sentence}`);
    for (const secret of [password, lines[1] ?? '']) expect(notice?.message).not.toContain(secret);
  });

  it('are refused where the configuration does not say so, as Flux does', () => {
    expect(missingCredentials('garden-foo', whole)?.message).toContain('set repositoryProvider to github');
  });
});
