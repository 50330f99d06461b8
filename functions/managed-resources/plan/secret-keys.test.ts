import { describe, expect, test } from 'vitest';
import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import { git, helmRelease, helmRepository, kustomize, withLists } from '../../../shared/config/listed/testing.ts';
import { issueText } from '../../../shared/errors.ts';
import { secretKeyIssues } from './secret-keys.ts';

/** The sentences about one object that names the Secret `credentials` with these keys. */
function sentences(objects: object[], ...keys: string[]): string[] {
  const config = effectiveConfig(withLists({ objects, existingSecrets: ['credentials'] }));
  const data = Object.fromEntries(keys.map((key) => [key, 'c2VjcmV0']));
  const secret = { name: 'credentials', namespace: 'flux-system', type: 'Opaque', data };
  return secretKeyIssues(config, [secret]).map(issueText);
}

const secretRef = { name: 'credentials' };
const ssh = [git('apps', { url: 'ssh://git@github.com/org/apps', secretRef })];
const https = [git('apps', { secretRef })];
const oci = [{ kind: 'OCIRepository', metadata: { name: 'a' }, spec: { url: 'oci://a.example/b', secretRef } }];
const bucket = (provider?: string) => [
  { kind: 'Bucket', metadata: { name: 'a' }, spec: { endpoint: 'a.example', bucketName: 'b', provider, secretRef } },
];
const decrypted = [git('apps'), kustomize('apps', 'apps', { decryption: { provider: 'sops', secretRef } })];
const provider = (type: string, address?: string) => [
  { kind: 'Provider', metadata: { name: 'a' }, spec: { type, address, secretRef } },
];
const values = (valuesKey?: string) => [
  helmRepository('charts'),
  helmRelease('app', 'charts', { valuesFrom: [{ kind: 'Secret', name: 'credentials', valuesKey }] }),
];
const receiver = [{ kind: 'Receiver', metadata: { name: 'a' }, spec: { type: 'github', secretRef } }];

describe('secretKeyIssues', () => {
  test.each<[string, object[], string[], string]>([
    ['SSH without host keys', ssh, ['identity'], 'known_hosts'],
    ['SSH with a password', ssh, ['username', 'password'], 'identity'],
    ['HTTPS with a user alone', https, ['username'], 'password'],
    ['HTTPS with a deploy key', https, ['identity', 'known_hosts'], 'username and password, or bearerToken'],
    [
      'a GitHub App without its key',
      [git('a', { provider: 'github', secretRef })],
      ['githubAppID'],
      'githubAppPrivateKey',
    ],
    [
      'a GitHub App without its installation',
      [git('a', { provider: 'github', secretRef })],
      ['githubAppID', 'githubAppPrivateKey'],
      'githubAppInstallationID',
    ],
    ['a registry with a user', oci, ['username', 'password'], '.dockerconfigjson'],
    ['a bucket without the secret key', bucket(), ['accesskey'], 'secretkey'],
    ['a bucket of Google', bucket('gcp'), ['accesskey', 'secretkey'], 'serviceaccount'],
    ['a bucket of Azure', bucket('azure'), ['accesskey'], 'accountKey or sasKey'],
    ['decryption without keys', decrypted, ['age.key'], 'key that ends with .agekey or .asc'],
    ['a chart repository', [helmRepository('a', { secretRef })], ['username'], 'password'],
    ['values under another key', values(), ['app.yaml'], 'values.yaml'],
    ['values under a named key', values('app.yaml'), ['values.yaml'], 'app.yaml'],
    ['a chat without an address', provider('msteams'), ['token'], 'address'],
    ['a Receiver', receiver, ['secret'], 'token'],
  ])('%s: names the key', (_, objects, keys, missing) => {
    const found = sentences(objects, ...keys);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(
      ` names Secret flux-system/credentials, which has no ${missing}; add the key to the original of the Secret`,
    );
  });

  test.each<[string, object[], string[]]>([
    ['SSH', ssh, ['identity', 'known_hosts']],
    ['HTTPS with a user', https, ['username', 'password']],
    ['HTTPS with a token', https, ['bearerToken']],
    ['HTTPS with a certificate', https, ['ca.crt']],
    ['a registry', oci, ['.dockerconfigjson']],
    ['a bucket', bucket(), ['accesskey', 'secretkey']],
    ['age', decrypted, ['prod.agekey']],
    ['PGP', decrypted, ['key.asc']],
    ['a key service', decrypted, ['sops.aws-kms']],
    [
      'a chart repository in a registry',
      [helmRepository('a', { url: 'oci://a.example/b', secretRef })],
      ['username', 'password'],
    ],
    ['values', values(), ['values.yaml']],
    ['a chat', provider('msteams'), ['address']],
    ['a chat with an address', provider('msteams', 'https://a.example'), ['token']],
    ['any other service', provider('pagerduty'), ['what-it-needs']],
    ['a Receiver', receiver, ['token']],
  ])('%s: accepts the keys', (_, objects, keys) => {
    expect(sentences(objects, ...keys)).toEqual([]);
  });

  test('the short forms are not checked: Flux reports on them as before', () => {
    const source = { kind: 'GitRepository', spec: { url: 'https://a.example/b', ref: { branch: 'main' } } };
    const parts = {
      source: { template: source, secretResourceName: 'a' },
      kustomization: { template: { spec: { path: './' } } },
    };
    const config = effectiveConfig(withLists(parts));
    const secret = { name: 'flux-system', namespace: 'flux-system', type: 'Opaque', data: {} };
    expect(secretKeyIssues(config, [secret])).toEqual([]);
    const { source: own, kustomization } = parts;
    const inLists = effectiveConfig(withLists({ sources: [own], kustomizations: [kustomization] }));
    expect(secretKeyIssues(inLists, [secret]).map(issueText)).toEqual([
      'providerConfig: sources[0].template.spec.secretRef names Secret flux-system/flux-system, which has no username and password, or bearerToken; add the key to the original of the Secret',
    ]);
  });
});
