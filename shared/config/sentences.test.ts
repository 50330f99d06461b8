import { describe, expect, test } from 'vitest';
import {
  bucket,
  gitRepository,
  hostKey,
  kustomization,
  ociRepository,
  problems,
  withFluxConfig,
  withProviderConfig,
  withTemplates,
} from './config.fixtures.ts';
import type { ConfigInputs } from './types.ts';

const SSH = { repositoryUrl: 'ssh://git@github.com/org/fleet', repositoryType: 'private' };

/** `data` of the ConfigMap garden-foo/flux-config -> the sentences about it. */
const fluxConfigSentences: [Record<string, string>, ...string[]][] = [
  [{ repositoryURL: 'x' }, 'repositoryURL is not a known key; did you mean repositoryUrl?'],
  [{ fluxversion: 'v2.9.4' }, 'fluxversion is not a known key; did you mean fluxVersion?'],
  [
    { something: 'x' },
    'something is not a known key; known keys are fluxVersion, repositoryUrl, repositoryType, repositoryProvider, knownHosts, sshKeyType, repositoryBranch, repositoryTag, repositorySemver, repositoryCommit, repositoryPath, repositoryInterval, kustomizationInterval, syncMode, deletionPolicy, suspend, adopt, registry, namespace, components, componentsExtra, imagePullSecret, networkPolicy, watchAllNamespaces, logLevel, clusterDomain, tolerationKeys, multiTenancy, tenantDefaultServiceAccount, size, priorityClass, imageDigests, sopsAgeSecret, config.yaml, overrides.yaml, rollout',
  ],
  [
    { fluxVersion: 'newest' },
    'fluxVersion "newest" is not a Flux version; use a release such as v2.9.4 or a range such as 2.9.x, or omit it for the newest release',
  ],
  ...['v0.29.5', '0.41.2', 'v1.0.0', '0.x'].map((fluxVersion): [Record<string, string>, string] => [
    { fluxVersion },
    `fluxVersion "${fluxVersion}" is a Flux version before 2.0, which is not supported; use a release such as v2.9.4 or a range such as 2.x, or omit it for the newest release`,
  ]),
  [
    { fluxVersion: '2.9 or newer' },
    'fluxVersion "2.9 or newer" is not a Flux version; use a release such as v2.9.4 or a range such as 2.9.x, or omit it for the newest release',
  ],
  [
    { repositoryUrl: 'git://github.com/org/fleet' },
    'repositoryUrl "git://github.com/org/fleet" is not a URL that Flux can read; it must start with https://, http:// or ssh://',
  ],
  [
    { repositoryUrl: 'github.com:org/fleet' },
    'repositoryUrl "github.com:org/fleet" is not a URL that Flux can read; it must start with https://, http:// or ssh://',
  ],
  [
    { repositoryUrl: 'https://' },
    'repositoryUrl "https://" is not a valid URL; use a form like ssh://git@github.com/org/repository',
  ],
  [
    { repositoryUrl: 'https://git.example.com/org/my fleet' },
    'repositoryUrl "https://git.example.com/org/my fleet" contains whitespace; remove it',
  ],
  [
    { repositoryUrl: 'https://user:SECRET@github.com/org/fleet' },
    'repositoryUrl contains credentials, which anyone can read here; put them in a Secret instead',
  ],
  [
    { repositoryUrl: 'https://SECRET@github.com/org/fleet' },
    'repositoryUrl contains credentials, which anyone can read here; put them in a Secret instead',
  ],
  [
    { repositoryUrl: 'ssh://git:SECRET@github.com/org/fleet', repositoryType: 'private' },
    'repositoryUrl contains credentials, which anyone can read here; put them in a Secret instead',
  ],
  [
    { repositoryUrl: 'ftp://user:SECRET@example.com/fleet' },
    'repositoryUrl "ftp://...@example.com/fleet" is not a URL that Flux can read; it must start with https://, http:// or ssh://',
  ],
  [
    { repositoryUrl: 'ftp://user:SEC@RET/SECRET@example.com/fleet' },
    'repositoryUrl "ftp://...@example.com/fleet" is not a URL that Flux can read; it must start with https://, http:// or ssh://',
  ],
  [
    { repositoryUrl: 'user:SECRET@example.com/fleet' },
    'repositoryUrl "...@example.com/fleet" is not a URL that Flux can read; it must start with https://, http:// or ssh://',
  ],
  [{ ...SSH, repositoryType: 'Private' }, 'repositoryType "Private" is not a valid value; did you mean private?'],
  [
    { repositoryUrl: 'https://github.com/org/fleet', repositoryType: 'secret' },
    'repositoryType "secret" is not a valid value; use one of public, private',
  ],
  [
    { repositoryUrl: 'ssh://git@github.com/org/fleet' },
    'repositoryType must be private, because Flux needs a key to read over SSH',
  ],
  [
    { repositoryUrl: 'git@github.com:org/fleet.git', repositoryType: 'public' },
    'repositoryType must be private, because Flux needs a key to read over SSH',
  ],
  [
    { repositoryBranch: 'main', repositoryType: 'private' },
    'repositoryUrl is missing; set it to the URL of the repository, or remove repositoryType, repositoryBranch',
  ],
  [
    { ...SSH, repositoryBranch: 'my branch' },
    'repositoryBranch "my branch" is not a valid Git ref name; use the branch or tag as Git shows it',
  ],
  [
    { ...SSH, repositoryTag: 'v1..2' },
    'repositoryTag "v1..2" is not a valid Git ref name; use the branch or tag as Git shows it',
  ],
  [
    { ...SSH, repositorySemver: 'newest' },
    'repositorySemver "newest" is not a version range; use a form like >=1.0.0 <2.0.0',
  ],
  [
    { ...SSH, repositoryCommit: '9c36b9c' },
    'repositoryCommit "9c36b9c" is not a full commit ID; use all 40 digits, as git rev-parse HEAD prints them',
  ],
  [
    { ...SSH, repositoryInterval: '2562048h' },
    'repositoryInterval "2562048h" exceeds the longest duration that Flux supports; use a shorter one, for example 24h',
  ],
  [
    { ...SSH, repositorySemver: '1.0.0 <<2' },
    'repositorySemver "1.0.0 <<2" is not a version range; use a form like >=1.0.0 <2.0.0',
  ],
  [
    { ...SSH, kustomizationInterval: '0s' },
    'kustomizationInterval "0s" is zero; use a longer duration, for example 1m',
  ],
  [
    { ...SSH, knownHosts: `${hostKey('github.com')}\n-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET` },
    'knownHosts has no valid host key in line 2; use lines as ssh-keyscan prints them (host, type, key), or scan',
  ],
  [
    { ...SSH, knownHosts: '# nothing yet' },
    'knownHosts contains no host key; use lines as ssh-keyscan prints them (host, type, key), or scan',
  ],
  [
    { ...SSH, knownHosts: hostKey('gitlab.com') },
    'knownHosts has no line for github.com; add the line that ssh-keyscan prints, or use scan',
  ],
  [{ ...SSH, sshKeyType: 'ecdsa' }, 'sshKeyType "ecdsa" is not a valid value; use one of ed25519, rsa'],
  [{ ...SSH, sshKeyType: 'RSA' }, 'sshKeyType "RSA" is not a valid value; did you mean rsa?'],
  [{ syncMode: 'once' }, 'syncMode "once" is not a valid value; did you mean Once?'],
  [{ syncMode: 'Always' }, 'syncMode "Always" is not a valid value; use one of Once, ManifestsOnly, Reconcile'],
  [{ suspend: 'yes' }, 'suspend "yes" is not a valid value; use one of true, false'],
  [{ networkPolicy: 'False' }, 'networkPolicy "False" is not a valid value; did you mean false?'],
  [{ watchAllNamespaces: '1' }, 'watchAllNamespaces "1" is not a valid value; use one of true, false'],
  [{ logLevel: 'warning' }, 'logLevel "warning" is not a valid value; use one of debug, info, error'],
  [
    { registry: 'https://ghcr.io/fluxcd' },
    'registry "https://ghcr.io/fluxcd" has a scheme; remove it, as in ghcr.io/fluxcd',
  ],
  [{ registry: 'ghcr.io/fluxcd/' }, 'registry "ghcr.io/fluxcd/" ends with a slash; remove it, as in ghcr.io/fluxcd'],
  [
    { registry: 'ghcr.io/Flux CD' },
    'registry "ghcr.io/Flux CD" is not a valid image prefix; use a registry and a path, for example ghcr.io/fluxcd',
  ],
  [
    { namespace: 'Flux' },
    `namespace "Flux" is not a valid namespace name; use at most 63 lowercase letters, digits and '-', starting and ending with a letter or digit`,
  ],
  [
    { components: 'source-controller, kustomize-controler' },
    'components "kustomize-controler" is not a component of Flux; did you mean kustomize-controller?',
  ],
  [
    { componentsExtra: 'Image_Controller' },
    'componentsExtra "Image_Controller" is not a component of Flux; the components are source-controller, kustomize-controller, helm-controller, notification-controller, image-reflector-controller, image-automation-controller, source-watcher',
  ],
  [
    { repositoryUrl: 'https://github.com/org/fleet', components: 'source-controller' },
    'components lacks kustomize-controller, which the configured source and Kustomization need; add kustomize-controller',
  ],
  [
    { imagePullSecret: 'my_secret' },
    `imagePullSecret "my_secret" is not a valid object name; use at most 253 lowercase letters, digits, '-' and '.', where each part between dots starts and ends with a letter or digit`,
  ],
  [{ clusterDomain: 'Cluster!' }, 'clusterDomain "Cluster!" is not a valid DNS domain; use a form like cluster.local'],
  [
    { tolerationKeys: 'infra, !bad' },
    'tolerationKeys "!bad" is not a valid taint key; use a form like node-role.kubernetes.io/infra',
  ],
  [
    { syncMode: 'once', logLevel: 'trace' },
    'syncMode "once" is not a valid value; did you mean Once?',
    'logLevel "trace" is not a valid value; use one of debug, info, error',
  ],
];

describe('every invalid value of flux-config has its own sentence', () => {
  test.each(fluxConfigSentences)('%j', (data, ...sentences) => {
    expect(problems(withFluxConfig(data))).toEqual(
      sentences.map((text) => `ConfigMap garden-foo/flux-config: ${text}`),
    );
  });

  test('a key in binaryData', () => {
    const fluxConfig = { namespace: 'garden-foo', data: { syncMode: 'Once' }, binaryData: { syncMode: '', extra: '' } };
    expect(problems({ fluxConfig })).toEqual([
      'ConfigMap garden-foo/flux-config: binaryData contains "syncMode", which is not read; remove it',
      'ConfigMap garden-foo/flux-config: binaryData contains "extra", which is not read; move it to data',
    ]);
  });

  test('a value that is not a string', () => {
    const data = { suspend: true, components: ['source-controller'] } as unknown as Record<string, string>;
    expect(problems(withFluxConfig(data))).toEqual([
      'ConfigMap garden-foo/flux-config: suspend must be a string, not a boolean; put it in quotes',
      'ConfigMap garden-foo/flux-config: components must be a string, not a list; write for example source-controller, kustomize-controller',
    ]);
  });
});

const resource = (name: string, kind = 'Secret', apiVersion = 'v1') => ({
  name,
  apiVersion,
  kind,
  resourceName: `${name}-secret`,
});
const withSecret = (template: object, fields: object = {}): ConfigInputs =>
  withTemplates(template, kustomization(), { source: { template, secretResourceName: 'git' }, ...fields });
const NAME_RULE = `use at most 253 lowercase letters, digits, '-' and '.', where each part between dots starts and ends with a letter or digit`;

/** A providerConfig -> the sentences about it. */
const providerConfigSentences: [string, ConfigInputs, ...string[]][] = [
  [
    'another API',
    withProviderConfig({ apiVersion: 'flux.extensions.gardener.cloud/v1' }),
    'apiVersion "flux.extensions.gardener.cloud/v1" is not a valid value; use flux.extensions.gardener.cloud/v1alpha1',
  ],
  [
    'another kind',
    withProviderConfig({ kind: 'FluxInstance' }),
    'kind "FluxInstance" is not a valid value; use FluxConfig',
  ],
  [
    'an unknown key',
    withProviderConfig({ kustomisation: {} }),
    'kustomisation is not a known key; did you mean kustomization?',
  ],
  [
    'an unknown key of flux',
    withProviderConfig({ flux: { imagePullSecrets: 'x' } }),
    'flux.imagePullSecrets is not a known key; did you mean imagePullSecret?',
  ],
  ['flux that is not an object', withProviderConfig({ flux: 'v2.9.4' }), 'flux must be an object, not a string'],
  [
    'an invalid version',
    withProviderConfig({ flux: { version: 'v2.x.1' } }),
    'flux.version "v2.x.1" is not a Flux version; use a release such as v2.9.4 or a range such as 2.9.x, or omit it for the newest release',
  ],
  [
    'an invalid namespace',
    withProviderConfig({ flux: { namespace: 'this is definitely not a valid namespace' } }),
    `flux.namespace "this is definitely not a valid namespace" is not a valid namespace name; use at most 63 lowercase letters, digits and '-', starting and ending with a letter or digit`,
  ],
  [
    'components as a string',
    withProviderConfig({ flux: { components: 'source-controller' } }),
    'flux.components must be a list, not a string; start each entry with "- "',
  ],
  [
    'a misspelt component',
    withProviderConfig({ flux: { componentsExtra: ['image-reflector-controler'] } }),
    'flux.componentsExtra[0] "image-reflector-controler" is not a component of Flux; did you mean image-reflector-controller?',
  ],
  [
    'components without one that the source needs',
    withTemplates(gitRepository(), kustomization(), { flux: { components: ['kustomize-controller'] } }),
    'flux.components lacks source-controller, which the configured source and Kustomization need; add source-controller',
  ],
  [
    'a boolean in quotes',
    withProviderConfig({ suspend: 'true', flux: { networkPolicy: 'no' } }),
    'suspend must be true or false without quotes, not "true"',
    'flux.networkPolicy must be true or false without quotes, not "no"',
  ],
  [
    'a boolean as a number',
    withProviderConfig({ flux: { watchAllNamespaces: 0 } }),
    'flux.watchAllNamespaces must be true or false without quotes, not a number',
  ],
  [
    'an unknown log level',
    withProviderConfig({ flux: { logLevel: 'warn' } }),
    'flux.logLevel "warn" is not a valid value; use one of debug, info, error',
  ],
  [
    'a taint key with an operator',
    withProviderConfig({ flux: { tolerationKeys: ['infra=true'] } }),
    'flux.tolerationKeys[0] "infra=true" is not a valid taint key; use a form like node-role.kubernetes.io/infra',
  ],
  [
    'an unknown sync mode',
    withProviderConfig({ syncMode: 'ManifestOnly' }),
    'syncMode "ManifestOnly" is not a valid value; did you mean ManifestsOnly?',
  ],
  [
    'a Kustomization without source',
    withProviderConfig({ kustomization: { template: kustomization() } }),
    'source is missing, but a kustomization is configured; add a source, or set repositoryUrl in the ConfigMap flux-config',
  ],
  [
    'a source without a template',
    withProviderConfig({ source: {}, kustomization: { template: kustomization() } }),
    'source.template is missing; set it, for example { kind: GitRepository, spec: { url: https://github.com/org/fleet, ref: { branch: main } } }',
  ],
  [
    'an unknown key of source',
    withProviderConfig({
      source: { gitRepository: {}, template: gitRepository() },
      kustomization: { template: kustomization() },
    }),
    'source.gitRepository is not a known key; known keys are template, secretResourceName',
  ],
  [
    'a template without a kind',
    withTemplates(gitRepository({}, { kind: undefined })),
    'source.template.kind is missing; use one of GitRepository, OCIRepository, Bucket',
  ],
  [
    'a template of another kind',
    withTemplates({ kind: 'HelmRelease', spec: {} }),
    'source.template.kind "HelmRelease" is not a valid value; use one of GitRepository, OCIRepository, Bucket',
  ],
  [
    'a template of a misspelt kind',
    withTemplates({ kind: 'OciRepository', spec: {} }),
    'source.template.kind "OciRepository" is not a valid value; did you mean OCIRepository?',
  ],
  [
    'a template of another group',
    withTemplates(gitRepository({}, { apiVersion: 'kustomize.toolkit.fluxcd.io/v1' })),
    'source.template.apiVersion "kustomize.toolkit.fluxcd.io/v1" is not an API version of this kind; use source.toolkit.fluxcd.io/v1 or omit it',
  ],
  [
    'a template of another major version',
    withTemplates(gitRepository({}, { apiVersion: 'source.toolkit.fluxcd.io/v2' })),
    'source.template.apiVersion "source.toolkit.fluxcd.io/v2" is not an API version of this kind; use source.toolkit.fluxcd.io/v1 or omit it',
  ],
  [
    'an unknown key of a template',
    withTemplates(gitRepository({}, { sepc: {} })),
    'source.template.sepc is not a known key; did you mean spec?',
  ],
  [
    'metadata that the API server sets',
    withTemplates(gitRepository({}, { metadata: { uid: 'x' } })),
    'source.template.metadata.uid is not a known key; known keys are name, namespace, labels, annotations',
  ],
  [
    'invalid names',
    withTemplates(gitRepository({}, { metadata: { name: 'Fleet', namespace: 'a.b' } })),
    `source.template.metadata.name "Fleet" is not a valid object name; ${NAME_RULE}`,
    `source.template.metadata.namespace "a.b" is not a valid namespace name; use at most 63 lowercase letters, digits and '-', starting and ending with a letter or digit`,
  ],
  [
    'a label that is not a string',
    withTemplates(gitRepository({}, { metadata: { labels: { tier: 1 } } })),
    'source.template.metadata.labels.tier must be a string, not a number; put it in quotes',
  ],
  [
    'empty, multi-line and long keys',
    withProviderConfig({ flux: { '': 1, 'a\nb': 1, ['x'.repeat(81)]: 1 } }),
    ...['""', '"a\\nb"', `"${'x'.repeat(80)}..."`].map(
      (name) =>
        `flux.${name} is not a known key; known keys are version, registry, namespace, components, componentsExtra, imagePullSecret, networkPolicy, watchAllNamespaces, logLevel, clusterDomain, tolerationKeys, multiTenancy, tenantDefaultServiceAccount, size, priorityClass, imageDigests, sopsAgeSecret, nodeSelector, commonMetadata, proxy, storage, sharding, patches`,
    ),
  ],
  [
    'invalid labels and annotations',
    withTemplates(
      gitRepository({}, { metadata: { labels: { tier: 'front end' }, annotations: { 'my note': 'any thing' } } }),
    ),
    `source.template.metadata.labels.tier "front end" is not a valid label value; use at most 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit`,
    'source.template.metadata.annotations "my note" is not a valid label or annotation key; use a form like example.com/team',
  ],
  [
    'a spec that is not an object',
    withTemplates({ kind: 'GitRepository', spec: [] }),
    'source.template.spec must be an object, not a list',
  ],
  [
    'a Git source without a spec',
    withTemplates({ kind: 'GitRepository' }),
    'source.template.spec.url is missing; set it, for example https://github.com/org/fleet',
    'source.template.spec.ref is missing; set it, for example { branch: main }',
  ],
  [
    'a Git source with an empty ref',
    withTemplates(gitRepository({ ref: {} })),
    'source.template.spec.ref is missing; set it, for example { branch: main }',
  ],
  [
    'a Git source with a misspelt ref',
    withTemplates(gitRepository({ ref: { brnach: 'main' } })),
    'source.template.spec.ref.brnach is not a known key; did you mean branch?',
  ],
  [
    'a port in the form of scp',
    withTemplates(gitRepository({ url: 'git@git.example.com:2222/org/fleet.git' })),
    'source.template.spec.url "git@git.example.com:2222/org/fleet.git" is a form that Flux does not accept; use ssh://git@git.example.com/2222/org/fleet.git, or ssh://git@git.example.com:2222/org/fleet.git if the number is a port',
  ],
  [
    'a Git source of the form user@host:path',
    withTemplates(gitRepository({ url: 'git@github.com:org/fleet.git' })),
    'source.template.spec.url "git@github.com:org/fleet.git" is a form that Flux does not accept; use ssh://git@github.com/org/fleet.git',
  ],
  [
    'a Git source over SSH without a key',
    withTemplates(gitRepository({ url: 'ssh://git@github.com/org/fleet' })),
    "source.secretResourceName is missing, but Flux needs a key to read over SSH; name the entry of the Shoot's spec.resources that holds identity and known_hosts",
  ],
  [
    'a Git source with invalid revisions',
    withTemplates(gitRepository({ ref: { branch: '-x', tag: 'a^b', semver: '!', commit: 'HEAD' } })),
    'source.template.spec.ref.branch "-x" is not a valid Git ref name; use the branch or tag as Git shows it',
    'source.template.spec.ref.tag "a^b" is not a valid Git ref name; use the branch or tag as Git shows it',
    'source.template.spec.ref.semver "!" is not a version range; use a form like >=1.0.0 <2.0.0',
    'source.template.spec.ref.commit "HEAD" is not a full commit ID; use all 40 digits, as git rev-parse HEAD prints them',
  ],
  [
    'durations without a unit, and hours where Flux accepts none',
    withTemplates(gitRepository({ interval: '5 minutes', timeout: '1h' })),
    'source.template.spec.interval "5 minutes" is not a duration; use numbers with the units h, m, s or ms, for example 5m or 1h30m',
    'source.template.spec.timeout "1h" is not a valid timeout for a source; use numbers with the units m, s or ms, for example 60s',
  ],
  [
    'durations of zero, with which a source always fails and a Kustomization is never retried',
    withTemplates(gitRepository({ timeout: '0s' }), kustomization({ retryInterval: '0m' })),
    'source.template.spec.timeout "0s" is zero; use a longer duration, for example 1m',
    'kustomization.template.spec.retryInterval "0m" is zero; use a longer duration, for example 1m',
  ],
  [
    'an OCI source without a ref',
    withTemplates(ociRepository({ ref: null })),
    'source.template.spec.ref is missing; set it, for example { tag: latest }',
  ],
  [
    'an OCI source with a ref of Git',
    withTemplates(ociRepository({ ref: { branch: 'main' } })),
    'source.template.spec.ref specifies no revision; set one of tag, semver, digest',
  ],
  [
    'an OCI source with another scheme',
    withTemplates(ociRepository({ url: 'https://ghcr.io/org/manifests' })),
    'source.template.spec.url "https://ghcr.io/org/manifests" is not the URL of an OCI artifact; it must start with oci://',
  ],
  [
    'an OCI source with a tag in its URL',
    withTemplates(ociRepository({ url: 'oci://ghcr.io:443/org/manifests:v1' })),
    'source.template.spec.url "oci://ghcr.io:443/org/manifests:v1" contains a tag or digest; move it to spec.ref.tag or spec.ref.digest',
  ],
  [
    'an OCI source without a repository',
    withTemplates(ociRepository({ url: 'oci://ghcr.io' })),
    'source.template.spec.url "oci://ghcr.io" names no repository; use a form like oci://ghcr.io/org/manifests',
  ],
  [
    'an OCI source in capitals, with an invalid tag',
    withTemplates(ociRepository({ url: 'oci://ghcr.io/Org/manifests', ref: { tag: 'v1 beta' } })),
    'source.template.spec.url "oci://ghcr.io/Org/manifests" is not the URL of an OCI artifact; use lowercase letters for the repository, as in oci://ghcr.io/org/manifests',
    `source.template.spec.ref.tag "v1 beta" is not a valid tag; use at most 128 letters, digits, '_', '-' and '.', starting with a letter or digit`,
  ],
  [
    'an OCI source with whitespace',
    withTemplates(ociRepository({ url: 'oci://ghcr.io/org/my manifests' })),
    'source.template.spec.url "oci://ghcr.io/org/my manifests" contains whitespace; remove it',
  ],
  [
    'an OCI source with credentials',
    withTemplates(ociRepository({ url: 'oci://user:SECRET@ghcr.io/org/manifests' })),
    'source.template.spec.url contains credentials, which anyone can read here; put them in a Secret instead',
  ],
  [
    'an OCI source with an invalid digest',
    withTemplates(ociRepository({ ref: { digest: 'abcd1234' } })),
    'source.template.spec.ref.digest "abcd1234" is not a valid digest; use a form like sha256:6f1c...',
  ],
  [
    'a bucket without a name and an endpoint',
    withTemplates(bucket({ bucketName: '', endpoint: '' })),
    'source.template.spec.bucketName is missing; set it, for example fleet',
    'source.template.spec.endpoint is missing; set it, for example s3.amazonaws.com',
  ],
  [
    'a bucket whose endpoint has a scheme',
    withTemplates(bucket({ endpoint: 'https://s3.example.com' })),
    'source.template.spec.endpoint "https://s3.example.com" has a scheme; use only host and port, for example s3.amazonaws.com',
  ],
  [
    'an Azure bucket whose endpoint is no URL',
    withTemplates(bucket({ provider: 'azure', endpoint: 'account.blob.core.windows.net' })),
    'source.template.spec.endpoint "account.blob.core.windows.net" is not a URL; use the URL of the account, for example https://account.blob.core.windows.net',
  ],
  [
    'an identity with a provider that is not a cloud',
    withTemplates(gitRepository({ serviceAccountName: 'reader', provider: 'github' })),
    'source.template.spec.serviceAccountName is not supported with provider github; remove it',
  ],
  [
    'a bucket with an identity and a provider that is not a cloud',
    withTemplates(bucket({ serviceAccountName: 'reader' })),
    'source.template.spec.serviceAccountName is not supported with provider generic; remove it',
  ],
  [
    'a bucket with a token service that its provider lacks',
    withTemplates(bucket({ provider: 'gcp', sts: { provider: 'aws', endpoint: 'https://sts.example.com' } })),
    'source.template.spec.sts is not supported with provider gcp; remove it',
  ],
  [
    'a bucket with the token service of another provider',
    withTemplates(bucket({ sts: { provider: 'aws', endpoint: 'https://sts.example.com' } })),
    'source.template.spec.sts.provider must be ldap, because spec.provider is generic',
  ],
  [
    'a bucket with credentials for a token service that accepts none',
    withTemplates(
      bucket({
        provider: 'aws',
        sts: { provider: 'aws', endpoint: 'https://sts.example.com', certSecretRef: { name: 'ca' } },
      }),
    ),
    'source.template.spec.sts.certSecretRef is not supported with provider aws; remove it',
  ],
  [
    'a bucket with two identities',
    withSecret(bucket({ serviceAccountName: 'reader', provider: 'aws' })),
    'source.template.spec.serviceAccountName cannot be combined with secretRef; remove one of them',
  ],
  [
    'a secretRef without secretResourceName',
    withTemplates(gitRepository({ secretRef: { name: 'fleet' } })),
    "source.secretResourceName is missing, but source.template.spec.secretRef is set; name the entry of the Shoot's spec.resources that holds the credentials",
  ],
  [
    'a secretRef without a name',
    withSecret(gitRepository({ secretRef: { nmae: 'fleet' } })),
    'source.template.spec.secretRef.name is missing; set it to the name of the Secret in the shoot',
  ],
  [
    'a secretResourceName without an entry',
    { ...withSecret(gitRepository()), shootResources: [resource('other'), resource('more')] },
    'source.secretResourceName "git" is not an entry of the Shoot\'s spec.resources (it has other, more); add the entry or use another one',
  ],
  [
    'a secretResourceName where the Shoot has no resources',
    { ...withSecret(gitRepository()), shootResources: [] },
    'source.secretResourceName "git" is not an entry of the Shoot\'s spec.resources (which is empty); add the entry or use another one',
  ],
  [
    'a secretResourceName of a ConfigMap',
    { ...withSecret(gitRepository()), shootResources: [resource('git', 'ConfigMap')] },
    'source.secretResourceName "git" is a ConfigMap in the Shoot\'s spec.resources, not a Secret; use an entry that refers to a Secret',
  ],
  [
    'a secretResourceName of a WorkloadIdentity',
    {
      ...withSecret(gitRepository()),
      shootResources: [resource('git', 'WorkloadIdentity', 'security.gardener.cloud/v1alpha1')],
    },
    'source.secretResourceName "git" is a WorkloadIdentity in the Shoot\'s spec.resources, and Flux sources cannot use its token; use an entry that refers to a Secret',
  ],
  [
    'a secretResourceName with an incomplete entry',
    { ...withSecret(gitRepository()), shootResources: [{ ...resource('git'), apiVersion: '', kind: '' }] },
    'source.secretResourceName "git" has an incomplete resourceRef in the Shoot\'s spec.resources; set its apiVersion, kind and name',
  ],
  [
    'a secretResourceName of a Secret with a name that no object can have',
    {
      ...withSecret(gitRepository()),
      shootResources: [{ ...resource('git'), resourceName: `x/${'y'.repeat(300_000)}` }],
    },
    `source.secretResourceName "git" has a wrong resourceRef in the Shoot's spec.resources: its name "x/${'y'.repeat(78)}..." is not a valid object name; use at most 253 lowercase letters, digits, '-' and '.', where each part between dots starts and ends with a letter or digit`,
  ],
  [
    'a secretResourceName of a Secret in another API version',
    { ...withSecret(gitRepository()), shootResources: [resource('git', 'Secret', 'v2')] },
    'source.secretResourceName "git" is a Secret of v2 in the Shoot\'s spec.resources, which Gardener does not copy; set apiVersion v1 there',
  ],
  [
    'an unknown key of kustomization',
    withProviderConfig({
      source: { template: gitRepository() },
      kustomization: { template: kustomization(), path: './' },
    }),
    'kustomization.path belongs to the spec of a Kustomization; write template.spec.path',
  ],
  [
    'a Kustomization without a template',
    withProviderConfig({ source: { template: gitRepository() }, kustomization: {} }),
    'kustomization.template.spec.path is missing; set it, for example ./clusters/production',
  ],
  [
    'a Kustomization with an empty path',
    withTemplates(gitRepository(), kustomization({ path: '' })),
    'kustomization.template.spec.path is missing; set it, for example ./clusters/production',
  ],
  [
    'a Kustomization of another kind and API',
    withTemplates(
      gitRepository(),
      kustomization({}, { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'HelmRelease' }),
    ),
    'kustomization.template.apiVersion "kustomize.config.k8s.io/v1beta1" is not an API version of this kind; use kustomize.toolkit.fluxcd.io/v1 or omit it',
    'kustomization.template.kind "HelmRelease" is not a valid value; use Kustomization',
  ],
  [
    'a Kustomization with a name too long for a label',
    withTemplates(gitRepository(), kustomization({}, { metadata: { name: 'x'.repeat(64) } })),
    `kustomization.template.metadata.name "${'x'.repeat(64)}" is too long for the name of a Kustomization, because Flux uses it in labels; use at most 63 characters`,
  ],
  [
    'a Kustomization with fields of the wrong type',
    withTemplates(gitRepository(), kustomization({ prune: 'yes', interval: 60, wait: 1, timeout: '1 h' })),
    'kustomization.template.spec.interval must be a string, not a number; put it in quotes',
    'kustomization.template.spec.prune must be true or false without quotes, not "yes"',
    'kustomization.template.spec.timeout "1 h" is not a duration; use numbers with the units h, m, s or ms, for example 5m or 1h30m',
    'kustomization.template.spec.wait must be true or false without quotes, not a number',
  ],
  [
    'a Kustomization for an invalid namespace',
    withTemplates(gitRepository(), kustomization({ targetNamespace: 'My-Apps' })),
    `kustomization.template.spec.targetNamespace "My-Apps" is not a valid namespace name; use at most 63 lowercase letters, digits and '-', starting and ending with a letter or digit`,
  ],
  [
    'a Kustomization with two kubeconfigs',
    withTemplates(
      gitRepository(),
      kustomization({ kubeConfig: { secretRef: { name: 'a' }, configMapRef: { name: 'b' } } }),
    ),
    'kustomization.template.spec.kubeConfig has both secretRef and configMapRef; remove one of them',
  ],
  [
    'a Kustomization with an invalid variable name',
    withTemplates(gitRepository(), kustomization({ postBuild: { substitute: { 'cluster-name': 'a', _b1: 'c' } } })),
    `kustomization.template.spec.postBuild.substitute "cluster-name" is not a valid variable name; use letters, digits and '_', not starting with a digit`,
  ],
  [
    'a Kustomization with an empty kubeconfig',
    withTemplates(gitRepository(), kustomization({ kubeConfig: {} })),
    'kustomization.template.spec.kubeConfig has neither secretRef nor configMapRef; set one of them',
  ],
  [
    'a sourceRef of a misspelt kind',
    withTemplates(gitRepository(), kustomization({ sourceRef: { kind: 'Gitrepository', name: 'other' } })),
    'kustomization.template.spec.sourceRef.kind "Gitrepository" is not a kind of source; did you mean GitRepository?',
  ],
  [
    "a sourceRef of the source's name with another kind",
    withTemplates(ociRepository(), kustomization({ sourceRef: { kind: 'GitRepository', name: 'flux-system' } })),
    'kustomization.template.spec.sourceRef.kind "GitRepository" is not the kind of the configured source; use OCIRepository or omit sourceRef',
  ],
  [
    'a source in a namespace that Flux does not watch',
    withTemplates(gitRepository({}, { metadata: { namespace: 'fleet' } }), kustomization(), {
      flux: { watchAllNamespaces: false },
    }),
    'source.template.metadata.namespace must be flux-system, because watchAllNamespaces is false; omit it or set watchAllNamespaces to true',
  ],
  [
    'additional Secrets that are not a list',
    withProviderConfig({ additionalSecretResources: { name: 'a' } }),
    'additionalSecretResources must be a list, not an object; start each entry with "- "',
  ],
  [
    'additional Secrets that are strings',
    withProviderConfig({ additionalSecretResources: ['a'] }),
    'additionalSecretResources[0] must be an object, not a string',
  ],
  [
    'an additional Secret without a name',
    withProviderConfig({ additionalSecretResources: [{ targetName: 'a' }] }),
    'additionalSecretResources[0].name is missing; set it, for example sops-age',
  ],
  [
    'an additional Secret with an unknown key',
    withProviderConfig({ additionalSecretResources: [{ name: 'a', targetname: 'b' }] }),
    'additionalSecretResources[0].targetname is not a known key; did you mean targetName?',
  ],
  [
    'several invalid additional Secrets',
    {
      ...withProviderConfig({
        additionalSecretResources: [{ name: 'a' }, { name: 'pod' }, { name: 'no' }, { name: 'a', targetName: 'bad-' }],
      }),
      shootResources: [resource('a'), resource('pod', 'Pod')],
    },
    `additionalSecretResources[3].targetName "bad-" is not a valid object name; ${NAME_RULE}`,
    'additionalSecretResources[1].name "pod" is a Pod in the Shoot\'s spec.resources, which Gardener does not copy to the control plane; use a Secret, a ConfigMap or a WorkloadIdentity',
    'additionalSecretResources[2].name "no" is not an entry of the Shoot\'s spec.resources (it has a, pod); add the entry or use another one',
  ],
  [
    'a WorkloadIdentity of another API',
    {
      ...withProviderConfig({ additionalSecretResources: [{ name: 'a' }] }),
      shootResources: [resource('a', 'WorkloadIdentity', 'v1')],
    },
    'additionalSecretResources[0].name "a" is a WorkloadIdentity of v1 in the Shoot\'s spec.resources, which Gardener does not copy; set apiVersion security.gardener.cloud/v1alpha1 there',
  ],
  [
    'ConfigMaps whose names are taken',
    {
      ...withProviderConfig({
        additionalSecretResources: [
          { name: 'a', targetName: 'shoot-info' },
          { name: 'a', targetName: 'vars' },
          { name: 'b', targetName: 'vars' },
        ],
      }),
      shootResources: [resource('a', 'ConfigMap'), resource('b', 'ConfigMap')],
    },
    'additionalSecretResources[0].targetName "shoot-info" in namespace flux-system is already taken by the ConfigMap with the Shoot\'s facts; use another targetName',
    'additionalSecretResources[2].targetName "vars" in namespace flux-system is already taken by additionalSecretResources[1]; use another targetName',
  ],
  [
    'two additional Secrets with one name in the shoot',
    {
      ...withProviderConfig({ additionalSecretResources: [{ name: 'a' }, { name: 'b', targetName: 'a-secret' }] }),
      shootResources: [resource('a'), resource('b')],
    },
    'additionalSecretResources[1].targetName "a-secret" in namespace flux-system is already taken by additionalSecretResources[0]; use another targetName',
  ],
  [
    'an additional Secret twice',
    withProviderConfig({ additionalSecretResources: [{ name: 'a' }, { name: 'a' }] }),
    'additionalSecretResources[1].name "a" in namespace flux-system is already taken by additionalSecretResources[0]; use another targetName',
  ],
  [
    "an additional Secret in the place of the source's",
    withSecret(gitRepository(), { additionalSecretResources: [{ name: 'a', targetName: 'flux-system' }] }),
    'additionalSecretResources[0].targetName "flux-system" in namespace flux-system is already taken by the source\'s credentials; use another targetName',
  ],
];

describe('every invalid value of a providerConfig has its own sentence', () => {
  test.each(providerConfigSentences)('%s', (_what, inputs, ...sentences) => {
    expect(problems(inputs)).toEqual(sentences.map((text) => `providerConfig: ${text}`));
  });
});

test.each([['a list', [], 'providerConfig must be an object, not a list']])(
  'rejects %s as providerConfig',
  (_what, providerConfig, sentence) => {
    expect(problems({ providerConfig })).toEqual([sentence]);
  },
);

test('never quotes a credential or a private key', () => {
  const all = [
    ...fluxConfigSentences.map(([data]) => withFluxConfig(data)),
    ...providerConfigSentences.map(([, inputs]) => inputs),
  ];
  const marked = all.filter((inputs) => JSON.stringify(inputs).includes('SECRET'));
  expect(marked.length).toBeGreaterThan(4);
  for (const inputs of marked) expect(problems(inputs).join('\n')).not.toContain('SECRET');
});

test('does not quote a private key in the wrong field', () => {
  const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET\n-----END OPENSSH PRIVATE KEY-----';
  expect(problems(withFluxConfig({ repositoryUrl: key, repositoryBranch: key }))).toEqual([
    'ConfigMap garden-foo/flux-config: repositoryUrl (a private key) is not a URL that Flux can read; it must start with https://, http:// or ssh://',
    'ConfigMap garden-foo/flux-config: repositoryBranch (a private key) is not a valid Git ref name; use the branch or tag as Git shows it',
  ]);
});

test('reports the issues of both layers at once', () => {
  const inputs = {
    ...withFluxConfig({ suspend: 'no' }),
    ...withProviderConfig({ flux: { namespace: 'A' }, syncMode: 'x' }),
  };
  expect(problems(inputs).map((text) => text.split(' "')[0])).toEqual([
    'ConfigMap garden-foo/flux-config: suspend',
    'providerConfig: syncMode',
    'providerConfig: flux.namespace',
  ]);
});
