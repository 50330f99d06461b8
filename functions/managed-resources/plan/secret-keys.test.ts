import { describe, expect, test } from 'vitest';
import { git, helmRelease, helmRepository, kustomize, withConfig } from '../../../shared/config/config.fixtures.ts';
import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import { MOST_ISSUES_OF_A_PART } from '../../../shared/config/limits.ts';
import { issueText } from '../../../shared/errors.ts';
import { secretKeyIssues } from './secret-keys.ts';

/** The sentences about one object that names the Secret `credentials` with these keys. */
function sentences(objects: object[], ...keys: string[]): string[] {
  return sentencesOf('v2.9.4', objects, keys);
}

function sentencesOf(release: string, objects: object[], keys: string[]): string[] {
  const config = effectiveConfig(withConfig({ objects, existingSecrets: ['credentials'] }));
  const data = Object.fromEntries(keys.map((key) => [key, 'c2VjcmV0']));
  const secret = { name: 'credentials', namespace: 'flux-system', type: 'Opaque', data };
  return secretKeyIssues(config, [secret], release).map(issueText);
}

const secretRef = { name: 'credentials' };
const ssh = [git('apps', { url: 'ssh://git@github.com/org/apps', secretRef })];
const https = [git('apps', { secretRef })];
const oci = [{ kind: 'OCIRepository', metadata: { name: 'a' }, spec: { url: 'oci://a.example/b', secretRef } }];
const bucket = (provider?: string) => [
  {
    kind: 'Bucket',
    metadata: { name: 'a' },
    spec: { endpoint: provider === 'azure' ? 'https://a.example' : 'a.example', bucketName: 'b', provider, secretRef },
  },
];
const decrypted = [git('apps'), kustomize('apps', 'apps', { decryption: { provider: 'sops', secretRef } })];
const provider = (type: string, address?: string) => [
  { kind: 'Provider', metadata: { name: 'a' }, spec: { type, address, secretRef } },
];
const values = (valuesKey?: string) => [
  helmRepository('charts'),
  helmRelease('app', 'charts', { valuesFrom: [{ kind: 'Secret', name: 'credentials', valuesKey }] }),
];
const chartWith = (fields: object) => ({
  spec: { chart: 'app', sourceRef: { kind: 'HelmRepository', name: 'a' }, ...fields },
});
const receiverOf = (type: string) => [{ kind: 'Receiver', metadata: { name: 'a' }, spec: { type, secretRef } }];
const receiver = receiverOf('github');
const app = [git('a', { provider: 'github', secretRef })];
const installations = ['githubAppInstallationID', 'githubAppInstallationOwner'] as const;
const sshKeys = ['identity', 'known_hosts'];
const both = 'has both githubAppInstallationID and githubAppInstallationOwner; remove one of them from the original';
const appKeys = ['githubAppID', 'githubAppPrivateKey'];
const verified = [git('a', { verify: { mode: 'HEAD', secretRef } })];
const verifiedOci = (verify: object) => [
  { kind: 'OCIRepository', metadata: { name: 'a' }, spec: { url: 'oci://a.example/b', verify } },
];
const withRoots = verifiedOci({ provider: 'cosign', trustedRootSecretRef: secretRef });
const verifiedChart = [helmRepository('a'), helmRelease('b', 'a', { chart: chartWith({ verify: { secretRef } }) })];
const automation = (type?: string) => [
  git('a'),
  {
    kind: 'ImageUpdateAutomation',
    metadata: { name: 'a' },
    spec: {
      sourceRef: { kind: 'GitRepository', name: 'a' },
      git: { commit: { author: { email: 'a@a.example' }, signingKey: { secretRef, type } } },
    },
  },
];

describe('secretKeyIssues', () => {
  test.each<[string, object[], string[], string]>([
    ['SSH without host keys', ssh, ['identity'], 'known_hosts'],
    ['SSH with a password', ssh, ['username', 'password'], 'identity'],
    ['HTTPS with a user alone', https, ['username'], 'password'],
    ['HTTPS with a deploy key', https, ['identity', 'known_hosts'], 'username and password, or bearerToken'],
    ['a GitHub App without its key', app, ['githubAppID'], 'githubAppPrivateKey'],
    ['a GitHub App without its installation', app, appKeys, 'githubAppInstallationID'],
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
    ['a Receiver of the registry of Google without its sender', receiverOf('gcr'), ['token', 'audience'], 'email'],
    ['signed requests', provider('generic-hmac', 'https://a.example'), ['headers'], 'token'],
    ['verified commits without any key', verified, [], 'key that ends with .asc or .sshpub'],
    ['a verified artifact', verifiedOci({ provider: 'cosign', secretRef }), ['cosign.key'], 'key that ends with .pub'],
    ['an artifact with roots of its own', withRoots, ['root.json'], 'trusted_root.json'],
    ['a verified chart', verifiedChart, ['cosign.key'], 'key that ends with .pub'],
    ['signed commits', automation(), ['key.asc'], 'git.asc'],
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
    ['a key service', decrypted, ['sops.aws-kms']],
    ['values', values(), ['values.yaml']],
    ['a chat', provider('msteams'), ['address']],
    ['a chat with an address', provider('msteams', 'https://a.example'), ['token']],
    ['any other service', provider('pagerduty'), ['what-it-needs']],
    ['a Receiver', receiver, ['token']],
    ['a Receiver of the registry of Google', receiverOf('gcr'), ['token', 'email', 'audience']],
    ['signed requests', provider('generic-hmac', 'https://a.example'), ['token']],
    ['a GitHub App by its ID', app, [...appKeys, 'githubAppInstallationID']],
    ['a GitHub App by its owner', app, [...appKeys, 'githubAppInstallationOwner']],
    ['a login by the cloud', [git('a', { provider: 'azure', secretRef })], ['githubAppID', 'bearerToken']],
    ['verified commits with PGP', verified, ['author.asc']],
    ['verified commits with SSH', verified, ['author.sshpub']],
    ['verified commits with a key of any name', verified, ['author']],
    ['a verified artifact', verifiedOci({ provider: 'cosign', secretRef }), ['cosign.pub']],
    ['signed commits', automation(), ['git.asc']],
    ['commits signed with SSH', automation('ssh'), ['what-it-needs']],
  ])('%s: accepts the keys', (_, objects, keys) => {
    expect(sentences(objects, ...keys)).toEqual([]);
  });

  test.each<[string, string, object[], string[], string | undefined]>([
    ['both installations of a GitHub App', 'v2.9.4', app, [...appKeys, ...installations], both],
    ['the owner that it does not read', 'v2.7.5', app, [...appKeys, ...installations], undefined],
    ['the owner alone', 'v2.7.5', app, [...appKeys, 'githubAppInstallationOwner'], 'has no githubAppInstallationID'],
    ['a GitHub App and no provider', 'v2.9.4', https, [...appKeys, installations[0]], 'has githubAppID; set provider'],
    ['a GitHub App and SSH', 'v2.9.4', ssh, [...sshKeys, 'githubAppID'], 'has githubAppID; set provider'],
    ['a GitHub App beside a user', 'v2.3.0', https, ['githubAppID', 'username', 'password'], undefined],
    ['a GitHub App without support', 'v2.3.0', https, ['githubAppID'], 'has no username and password'],
    ['a Receiver of the registry of Google', 'v2.8.8', receiverOf('gcr'), ['token'], undefined],
    ['verified commits with SSH', 'v2.8.8', verified, ['author.sshpub'], 'has no key that ends with .asc; add'],
  ])('%s with Flux %s', (_, release, objects, keys, problem) => {
    const found = sentencesOf(release, objects, keys);
    const which = ' names Secret flux-system/credentials, which ';
    expect(found).toEqual(problem === undefined ? [] : [expect.stringContaining(`${which}${problem}`)]);
  });

  test('the short forms are not checked: Flux reports on them as before', () => {
    const source = { kind: 'GitRepository', spec: { url: 'https://a.example/b', ref: { branch: 'main' } } };
    const parts = {
      source: { template: source, secretResourceName: 'a' },
      kustomization: { template: { spec: { path: './' } } },
    };
    const config = effectiveConfig(withConfig(parts));
    const secret = { name: 'flux-system', namespace: 'flux-system', type: 'Opaque', data: {} };
    expect(secretKeyIssues(config, [secret], 'v2.9.4')).toEqual([]);
    const { source: own, kustomization } = parts;
    const inLists = effectiveConfig(withConfig({ sources: [own], kustomizations: [kustomization] }));
    expect(secretKeyIssues(inLists, [secret], 'v2.9.4').map(issueText)).toEqual([
      'providerConfig: sources[0].template.spec.secretRef names Secret flux-system/flux-system, which has no username and password, or bearerToken; add the key to the original of the Secret',
    ]);
  });
});

test('a Secret with thousands of keys that a thousand fields name has a bounded number of issues', () => {
  const valuesFrom = Array(1000).fill({ kind: 'Secret', name: 'credentials', valuesKey: 'missing' });
  const keys = Array.from({ length: 20_000 }, (_, i) => `key-${i}`);
  const objects = [helmRepository('charts'), helmRelease('app', 'charts', { valuesFrom })];
  expect(sentences(objects, ...keys)).toHaveLength(MOST_ISSUES_OF_A_PART);
});
