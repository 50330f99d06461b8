import { generateKeyPairSync } from 'node:crypto';
import { loopbackCertificate } from '@shoot-flux/landscape/certificate';
import { describe, expect, it, test } from 'vitest';
import { contentProblem } from '../../shared/config/listed/secret-content.ts';
import { secretUses } from '../../shared/config/listed/secret-uses.ts';
import { missingCredentials } from './credentials.ts';

const url = 'https://git.example.com/org/fleet';
const { cert, key } = loopbackCertificate();
const [username, password, bearerToken] = ['reader', 'marked-secret', 'marked-token'];

test.each([
  [{ username, password }],
  [{ bearerToken }],
  [{ bearerToken, password }],
  // Flux reads nothing else beside it.
  [{ bearerToken, password: `${password}\n` }],
  [{ 'tls.crt': cert, 'tls.key': key }],
  [{ 'ca.crt': cert }],
  [{ caFile: cert }],
  [{ username, password, 'ca.crt': cert }],
  [{ username, password: ` ${password} ` }],
])('accepts %j', (data) => {
  expect(missingCredentials('garden-foo', data, { url })).toBeUndefined();
});

test.each([
  [undefined, 'does not exist; create it'],
  [{}, 'has no credentials; add username and password'],
  [{ 'ca.crt': 'authority' }, 'ca.crt has no certificate in PEM form'],
  [{ 'ca.crt': cert, password }, 'username is missing'],
  [{ 'tls.crt': cert }, 'has no credentials'],
  [{ username: ` ${username}`, password }, 'username has a space at one end'],
  [{ username, password: `\uFEFF${password}` }, 'password begins with a byte order mark'],
  [{ username }, 'password is missing'],
  [{ password }, 'username is missing'],
  [
    { username, password: `${password}\n` },
    'password ends with a line break, which Flux takes as a part of it; write it',
  ],
  [{ username: `${username}\r\n`, password }, 'username ends with a line break'],
  [{ bearerToken: `${bearerToken}\n` }, 'bearerToken ends with a line break'],
])('reports what is wrong with the credentials %j', (data, sentence) => {
  const notice = missingCredentials('garden-foo', data, { url });
  expect(notice).toMatchObject({ type: 'Warning', reason: 'CredentialsMissing' });
  expect(notice?.message).toContain('Secret garden-foo/flux-source: ');
  expect(notice?.message).toContain(sentence);
  for (const secret of [password, bearerToken]) expect(notice?.message).not.toContain(secret);
});

const both = { username, password };
test.each<Record<string, string>>([
  ...[
    {},
    both,
    { bearerToken },
    { username },
    { password },
    { 'ca.crt': cert },
    { 'ca.crt': 'x' },
    { 'tls.crt': cert },
  ],
  ...[{ ...both, 'ca.crt': cert }, { username, 'ca.crt': cert }, { 'tls.crt': cert, 'tls.key': key }, { caFile: cert }],
  ...[
    { ...both, password: 'a\n' },
    { bearerToken: 'a\n' },
    { bearerToken, password: 'a\n' },
    { ...both, githubAppID: '1' },
  ],
])('agrees with validate --secrets about %j', (data) => {
  const secretRef = { name: 'flux-source' };
  const object = { apiVersion: 'v1', kind: 'GitRepository', metadata: { name: 'a' }, spec: { url, secretRef } };
  const [use] = secretUses(object);
  const problem = use?.needs?.(new Set(Object.keys(data)), 'v2.9.4') ?? contentProblem(object, 'spec.secretRef', data);
  expect(missingCredentials('garden-foo', data, { url }) === undefined).toBe(problem === undefined);
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
    expect(missingCredentials('garden-foo', data, { url, provider: 'github' })).toBeUndefined();
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
    const notice = missingCredentials('garden-foo', data, { url, provider: 'github' });
    expect(notice).toMatchObject({ type: 'Warning', reason: 'CredentialsMissing' });
    expect(notice?.message).toContain(`Secret garden-foo/flux-source: ${sentence}`);
    for (const secret of [password, lines[1] ?? '']) expect(notice?.message).not.toContain(secret);
  });

  it('are refused where the configuration does not say so, as Flux does', () => {
    expect(missingCredentials('garden-foo', whole, { url })?.message).toContain('set repositoryProvider to github');
  });
});
