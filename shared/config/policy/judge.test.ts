import { describe, expect, it, test } from 'vitest';
import {
  bucket,
  gitRepository,
  ociRepository,
  problems,
  withFluxConfig,
  withProviderConfig,
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
        [{ allowedVersions: ['2.9.x', 'v2.8.4'] }, withProviderConfig({ flux: { version: 'v2.8.3' } })],
      [`providerConfig: flux.registry "evil.example/fluxcd" is not allowed by ${inPolicy('allowedRegistries')}; use ghcr.io/fluxcd`]:
        [{ allowedRegistries: ['ghcr.io/fluxcd'] }, withProviderConfig({ flux: { registry: 'evil.example/fluxcd' } })],
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
        [urls, withProviderConfig({ flux: { proxy: { http: 'http://proxy.example.com' } } })],
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
    const [sentence = ''] = judged({ allowedRegistries }, withProviderConfig({ flux: { registry: 'evil.example' } }));
    expect(sentence).toMatch(/registry-9\.example\.com\/\*\* or 30 more$/);
  });
});

describe('what a policy allows', () => {
  it.each<[string, Policy, ConfigInputs]>([
    ['nothing configured', { allowedVersions: ['2.9.x'], ...urls, requireMultiTenancy: true }, {}],
    ['a range with allowed releases', { allowedVersions: ['2.9.x'] }, withProviderConfig({ flux: { version: '2.x' } })],
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
