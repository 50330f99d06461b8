import { describe, expect, it, test } from 'vitest';
import {
  bucket,
  git,
  gitRepository,
  helmRelease,
  helmRepository,
  ociRepository,
  problems,
  withConfig,
  withFluxConfig,
  withTemplates,
} from '../config.fixtures.ts';
import { effectiveConfig } from '../effective-config.ts';
import type { ConfigInputs } from '../types.ts';
import type { Policy } from './policy.ts';

const judged = (policy: Policy, inputs: ConfigInputs) => problems({ ...inputs, landscape: { policy } });
const inPolicy = (rule: string) => `${rule} in the policy of this landscape`;
const urls: Policy = { allowedRepositoryUrls: ['https://git.example.com/**', 'oci://registry.example.com/team/**'] };
const useUrls = 'use one of https://git.example.com/**, oci://registry.example.com/team/**';

describe('each rule refuses in one sentence that names it, the value and what is allowed', () => {
  it.each(
    Object.entries<[Policy, ConfigInputs]>({
      [`providerConfig: flux.version "v2.8.3" is not allowed by ${inPolicy('allowedVersions')}; use one of 2.9.x, v2.8.4`]:
        [{ allowedVersions: ['2.9.x', 'v2.8.4'] }, withConfig({ flux: { version: 'v2.8.3' } })],
      [`providerConfig: flux.registry "evil.example/fluxcd" is not allowed by ${inPolicy('allowedRegistries')}; use ghcr.io/fluxcd`]:
        [{ allowedRegistries: ['ghcr.io/fluxcd'] }, withConfig({ flux: { registry: 'evil.example/fluxcd' } })],
      [`ConfigMap garden-foo/flux-config: repositoryUrl "ssh://git@evil.example/org/fleet" is not allowed by ${inPolicy('allowedRepositoryUrls')}; ${useUrls}`]:
        [urls, withFluxConfig({ repositoryUrl: 'git@evil.example:org/fleet', repositoryType: 'private' })],
      [`providerConfig: source.template.spec.url "https://git.example.com/team/%2e%2e/other" has a form that cannot be compared with ${inPolicy('allowedRepositoryUrls')}; ${useUrls}, without a query, dots or encoded slashes in its path`]:
        [urls, withTemplates(gitRepository({ url: 'https://git.example.com/team/%2e%2e/other' }))],
      [`providerConfig: source.template.spec.proxySecretRef is not allowed by ${inPolicy('allowedRepositoryUrls')}; remove it, because the proxy would decide what is read`]:
        [
          urls,
          withTemplates(gitRepository({ url: 'https://git.example.com/fleet', proxySecretRef: { name: 'proxy' } })),
        ],
      [`providerConfig: flux.proxy is not allowed by ${inPolicy('allowedRepositoryUrls')}; remove it, because the proxy would decide what is read`]:
        [urls, withConfig({ flux: { proxy: { http: 'http://proxy.example.com' } } })],
      [`ConfigMap garden-foo/flux-config: multiTenancy false is not allowed by ${inPolicy('requireMultiTenancy')}; remove it, or set it to true`]:
        [{ requireMultiTenancy: true }, withFluxConfig({ multiTenancy: 'false' })],
      [`ConfigMap garden-foo/flux-config: knownHosts "scan" is not allowed by ${inPolicy('allowHostKeyScan')}; add the lines that ssh-keyscan prints`]:
        [
          { allowHostKeyScan: false },
          withFluxConfig({
            repositoryUrl: 'ssh://git@git.example.com/x',
            repositoryType: 'private',
            knownHosts: 'scan',
          }),
        ],
      [`ConfigMap garden-foo/flux-config: repositoryUrl "http://git.example.com/fleet" is not allowed by ${inPolicy('allowInsecureUrls')}; use https:// or ssh://`]:
        [{ allowInsecureUrls: false }, withFluxConfig({ repositoryUrl: 'http://git.example.com/fleet' })],
      [`providerConfig: source.template.spec.insecure true is not allowed by ${inPolicy('allowInsecureUrls')}; remove it`]:
        [{ allowInsecureUrls: false }, withTemplates(ociRepository({ insecure: true }))],
      [`providerConfig: source.template.spec.url "oci://10.1.2.3/org/../fleet" is not allowed by ${inPolicy('allowInsecureUrls')}; use a registry with a public name, which is read over HTTPS only`]:
        [{ allowInsecureUrls: false }, withTemplates(ociRepository({ url: 'oci://10.1.2.3/org/../fleet' }))],
    }),
  )('%s', (sentence, [policy, inputs]) => {
    expect(judged(policy, inputs)).toEqual([sentence]);
  });

  it('and every one of several', () => {
    const policy = { ...urls, allowedVersions: ['2.9.x'], allowInsecureUrls: false };
    const inputs = withFluxConfig({ fluxVersion: '2.8.1', repositoryUrl: 'http://evil.example/fleet' });
    expect(judged(policy, inputs)).toEqual([
      expect.stringContaining('allowedVersions'),
      expect.stringContaining('allowedRepositoryUrls'),
      expect.stringContaining('allowInsecureUrls'),
    ]);
  });

  it('names ten entries at most', () => {
    const allowedRegistries = Array.from({ length: 40 }, (_, index) => `registry-${index}.example.com/**`);
    const [sentence = ''] = judged({ allowedRegistries }, withConfig({ flux: { registry: 'evil.example' } }));
    expect(sentence).toMatch(/registry-9\.example\.com\/\*\* or 30 more$/);
  });
});

describe('what a policy allows', () => {
  it.each<[string, Policy, ConfigInputs]>([
    ['nothing configured', { allowedVersions: ['2.9.x'], ...urls, requireMultiTenancy: true }, {}],
    ['a range with allowed releases', { allowedVersions: ['2.9.x'] }, withConfig({ flux: { version: '2.x' } })],
    [
      'the form git@host:path',
      { allowedRepositoryUrls: ['git.example.com/**'] },
      withFluxConfig({ repositoryUrl: 'git@git.example.com:a/b', repositoryType: 'private' }),
    ],
    ['a bucket', { allowedRepositoryUrls: ['bucket://s3.example.com/fl*'] }, withTemplates(bucket())],
    ['https', { allowInsecureUrls: false }, withFluxConfig({ repositoryUrl: 'https://git.example.com/fleet' })],
    ['insecure false', { allowInsecureUrls: false }, withTemplates(ociRepository({ insecure: false }))],
    ['multiTenancy true', { requireMultiTenancy: true }, withFluxConfig({ multiTenancy: 'true' })],
  ])('%s', (_what, policy, inputs) => {
    expect(judged(policy, inputs)).toEqual([]);
  });
});

test('the operators may set a proxy for all', () => {
  const landscape = {
    defaults: { flux: { proxy: { http: 'http://proxy.example.com' } } },
    policy: { allowedRepositoryUrls: ['https://git.example.com/**'] },
  };
  expect(effectiveConfig({ landscape }).flux.proxy).toEqual({ http: 'http://proxy.example.com' });
});

test('one list may serve as two: the entries of each are read as its own kind', () => {
  const list = ['registry.example.com/**'];
  const inputs = withTemplates(gitRepository({ url: 'https://registry.example.com/fleet' }), undefined, {
    flux: { registry: 'registry.example.com/fluxcd' },
  });
  expect(judged({ allowedRegistries: list, allowedRepositoryUrls: list }, inputs)).toEqual([]);
});

test('a source of a providerConfig does not hide that flux-config would scan, nor the reverse', () => {
  const policy = { allowHostKeyScan: false };
  const { fluxConfig } = withFluxConfig({
    repositoryUrl: 'ssh://git@git.example.com/x',
    repositoryType: 'private',
    knownHosts: 'scan',
  });
  // The repository is not used by this Shoot; `keys` judges it.
  expect(judged(policy, { ...withTemplates(gitRepository()), fluxConfig })).toEqual([]);
});

const encrypted: Policy = { allowInsecureUrls: false };
const ours = git('ours', { url: 'https://git.example.com/a' });
const registry = (url: string) => helmRepository('charts', { type: 'oci', url });
const inRegistry = (chart: string) => [
  registry('oci://registry.example.com/team'),
  helmRelease('app', 'charts', { chart: { spec: { chart, sourceRef: { kind: 'HelmRepository', name: 'charts' } } } }),
];

test.each(
  Object.entries<[Policy, object[]]>({
    'objects[0].spec.url "https://github.com/org/a" is not allowed by allowedRepositoryUrls': [urls, [git('a')]],
    'objects[1].spec.url "https://github.com/org/b" is not allowed by': [urls, [ours, git('b')]],
    'objects[0].spec.url "https://charts.example.com" is not allowed by': [urls, [helmRepository('a')]],
    'objects[0].spec.url "oci://registry.example.com/other" is not': [
      urls,
      [registry('oci://registry.example.com/other')],
    ],
    'objects[1].spec.chart.spec.chart "oci://registry.example.com/team/a/../../other/app" has a form that cannot be compared with':
      [urls, inRegistry('a/../../other/app')],
    'objects[0].spec.proxySecretRef is not allowed by': [
      urls,
      [git('a', { url: 'https://git.example.com/a', proxySecretRef: { name: 'proxy' } })],
    ],
    'objects[0].spec.url "http://charts.example.com" is not allowed by allowInsecureUrls': [
      encrypted,
      [helmRepository('a', { url: 'http://charts.example.com' })],
    ],
    'objects[0].spec.address "http://a.example" is not allowed by': [
      encrypted,
      [{ kind: 'Provider', metadata: { name: 'a' }, spec: { type: 'generic', address: 'http://a.example' } }],
    ],
    'objects[0].spec.insecure true is not allowed by': [
      encrypted,
      [{ kind: 'ImageRepository', metadata: { name: 'a' }, spec: { image: 'a.example/b', insecure: true } }],
    ],
  }),
)('%s', (sentence, [policy, objects]) => {
  const found = problems(withConfig({ objects, existingSecrets: ['proxy'] }, { landscape: { policy } }));
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(`providerConfig: ${sentence}`);
  expect(found[0]).toContain('in the policy of this landscape');
});

test.each<[string, object[]]>([
  ['a repository that is allowed', [ours]],
  ['a chart in an allowed registry', inRegistry('app')],
])('%s is accepted', (_, objects) => {
  expect(problems(withConfig({ objects }, { landscape: { policy: { ...urls, ...encrypted } } }))).toEqual([]);
});

const judgedBucket = (policy: Policy, spec: object) =>
  problems({ ...withTemplates(bucket(spec)), landscape: { policy } });
const only = (...allowedRepositoryUrls: string[]): Policy => ({ allowedRepositoryUrls });
const account = 'account.blob.core.windows.net';
const azure = { provider: 'azure', endpoint: `https://${account}` };
const aws = { provider: 'aws', endpoint: 's3.amazonaws.com' };
const china = { ...aws, endpoint: 's3.cn-north-1.amazonaws.com.cn' };

describe('a bucket is judged by what Flux reads', () => {
  it.each<[string, object]>([
    ['s3.example.com/fleet', { provider: 'generic' }],
    ['s3.example.com/fleet', { endpoint: 's3.example.com:443' }],
    ['s3.example.com:80/fleet', { insecure: true }],
    ['s3.example.com:9000/*', { insecure: true, endpoint: 's3.example.com:9000' }],
    ['s3.amazonaws.com/fleet', aws],
    ['s3.amazonaws.com/fleet', { ...aws, region: 'eu-central-1' }],
    ['s3.cn-north-1.amazonaws.com.cn/fleet', { ...china, region: 'cn-north-1' }],
    ['storage.googleapis.com/fleet', { provider: 'gcp', endpoint: 'storage.googleapis.com' }],
    ['storage.googleapis.com/fleet', { provider: 'gcp' }],
    ['account.blob.core.windows.net/fleet', azure],
    ['azurite.example.com:10000/a/fleet', { ...azure, endpoint: 'https://azurite.example.com:10000/a/' }],
    ['account.example.com:80/fleet', { ...azure, endpoint: 'http://account.example.com' }],
  ])('allowed by bucket://%s: %j', (entry, spec) => {
    expect(judgedBucket(only(`bucket://${entry}`), spec)).toEqual([]);
  });

  const ofAzure = 'account.blob.core.windows.net/**';
  const incomparable = 'has a form that cannot be compared with';
  it.each<[string, object, string, string?]>([
    ['s3.example.com/**', { provider: 'gcp', bucketName: 'evil' }, 'storage.googleapis.com/evil'],
    [ofAzure, { ...azure, endpoint: 'https://evil.blob.core.windows.net' }, 'evil.blob.core.windows.net/fleet'],
    [ofAzure, { ...azure, endpoint: `http://${account}` }, `${account}:80/fleet`],
    [ofAzure, { ...azure, endpoint: `https://${account}/?x=` }, `${account}/?x=/fleet`, incomparable],
    ['s3.amazonaws.com/fleet', { ...aws, region: 'cn-northwest-1' }, 's3.cn-northwest-1.amazonaws.com.cn/fleet'],
    ['s3.cn-north-1.amazonaws.com.cn/fleet', { ...china, region: 'anywhere' }, 's3.amazonaws.com/fleet'],
    [
      's3.eu-central-1.amazonaws.com/fleet',
      { endpoint: 's3.eu-central-1.amazonaws.com', region: 'us-gov-west-1' },
      's3.us-gov-west-1.amazonaws.com/fleet',
    ],
    ['s3.example.com/fleet', { bucketName: 'fleet.git' }, 's3.example.com/fleet.git'],
    [`${account}/**`, { ...azure, bucketName: 'fleet/other' }, `${account}/fleet/other`, incomparable],
    ['s3.example.com/fleet', { bucketName: 'fl%65et' }, 's3.example.com/fl%65et', incomparable],
    ['s3.example.com/fleet', { insecure: true }, 's3.example.com:80/fleet'],
  ])('refused by bucket://%s: %j, which is %s', (entry, spec, read, problem = 'is not allowed by') => {
    const field = 'provider' in spec && spec.provider === 'gcp' ? 'bucketName' : 'endpoint';
    expect(judgedBucket(only(`bucket://${entry}`), spec)).toEqual([
      expect.stringContaining(`.template.spec.${field} "bucket://${read}" ${problem} allowedRepositoryUrls`),
    ]);
  });

  it('of Google does not escape where connections must be encrypted', () => {
    const policy = { ...only('bucket://s3.example.com/**'), allowInsecureUrls: false };
    expect(judgedBucket(policy, { provider: 'gcp', bucketName: 'evil' })).toHaveLength(1);
  });
});

it('an Azure endpoint over HTTP is refused where connections must be encrypted', () => {
  expect(
    judgedBucket({ allowInsecureUrls: false }, { ...azure, endpoint: 'http://account.blob.core.windows.net' }),
  ).toEqual([
    'providerConfig: source.template.spec.endpoint "http://account.blob.core.windows.net" is not allowed by allowInsecureUrls in the policy of this landscape; use https://',
  ]);
  expect(judgedBucket({ allowInsecureUrls: false }, azure)).toEqual([]);
});
