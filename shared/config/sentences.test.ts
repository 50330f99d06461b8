// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { describe, expect, it, test } from 'vitest';
import {
  bucket,
  gitRepository,
  hostKey,
  kustomization,
  ociRepository,
  problems,
  withConfig,
  withFluxConfig,
  withTemplates,
} from './config.fixtures.ts';
import type { ConfigInputs } from './types.ts';

const HTTPS = { repositoryUrl: 'https://github.com/org/fleet' };
const SSH = { repositoryUrl: 'ssh://git@github.com/org/fleet', repositoryType: 'private' };
const NO_VERSION =
  'is not a Flux version; use a release such as v2.9.4 or a range such as 2.9.x, or omit it for the newest release';
const NO_URL = 'is not a URL that Flux can read; it must start with https://, http:// or ssh://';
const CREDENTIALS = 'contains credentials, which anyone can read here; put them in a Secret instead';
const NO_REF_NAME = 'is not a valid Git ref name; use the branch or tag as Git shows it';
const NO_RANGE = 'is not a version range; use a form like >=1.0.0 <2.0.0';
const NO_COMMIT = 'is not a full commit ID; use all 40 digits, as git rev-parse HEAD prints them';
const NO_DURATION = 'is not a duration; use numbers with the units h, m, s or ms, for example 5m or 1h30m';
const ZERO = 'is zero; use a longer duration, for example 1m';
const NO_NAMESPACE = `is not a valid namespace name; use at most 63 lowercase letters, digits and '-', starting and ending with a letter or digit`;
const NO_NAME = `is not a valid object name; use at most 253 lowercase letters, digits, '-' and '.', where each part between dots starts and ends with a letter or digit`;
const NEEDS_KEY = 'must be private, because Flux needs a key to read over SSH';
const KEY_LINES = 'use lines as ssh-keyscan prints them (host, type, key), or scan';
const BEFORE_2 =
  'is a Flux version before 2.0, which is not supported; use a release such as v2.9.4 or a range such as 2.x, or omit it for the newest release';
const FLUX_KEYS =
  'version, registry, namespace, components, componentsExtra, imagePullSecret, networkPolicy, watchAllNamespaces, logLevel, clusterDomain, tolerationKeys, multiTenancy, tenantDefaultServiceAccount, objectLevelWorkloadIdentity, tenantDefaultDecryptionServiceAccount, tenantDefaultKubeConfigServiceAccount, watchConfigs, featureGates, size, priorityClass, imageDigests, sopsAgeSecret, nodeSelector, commonMetadata, proxy, storage, sharding, patches';

/** The sentence about the ConfigMap garden-foo/flux-config -> its `data`. */
const fluxConfigSentences: Record<string, Record<string, string>> = {
  [`fluxVersion "newest" ${NO_VERSION}`]: { fluxVersion: 'newest' },
  [`fluxVersion "v0.29.5" ${BEFORE_2}`]: { fluxVersion: 'v0.29.5' },
  'repositoryURL is not a known key; did you mean repositoryUrl?': { repositoryURL: 'x' },
  'something is not a known key; known keys are fluxVersion, repositoryUrl, repositoryType, repositoryProvider, knownHosts, sshKeyType, repositoryBranch, repositoryTag, repositorySemver, repositoryCommit, repositoryPath, repositoryInterval, kustomizationInterval, kustomizationTargetNamespace, syncMode, deletionPolicy, suspend, adopt, monitoring, registry, namespace, components, componentsExtra, imagePullSecret, networkPolicy, watchAllNamespaces, logLevel, clusterDomain, tolerationKeys, multiTenancy, tenantDefaultServiceAccount, objectLevelWorkloadIdentity, tenantDefaultDecryptionServiceAccount, tenantDefaultKubeConfigServiceAccount, watchConfigs, size, priorityClass, imageDigests, sopsAgeSecret, addons, config.yaml, overrides.yaml, rollout, push':
    { something: 'x' },
  [`repositoryUrl ${CREDENTIALS}`]: { ...SSH, repositoryUrl: 'ssh://git:SECRET@github.com/org/fleet' },
  'repositoryType "Private" is not a valid value; did you mean private?': { ...SSH, repositoryType: 'Private' },
  [`repositoryType ${NEEDS_KEY}`]: { repositoryUrl: SSH.repositoryUrl },
  'repositoryUrl is missing; set it to the URL of the repository, or remove repositoryType, repositoryBranch': {
    repositoryBranch: 'main',
    repositoryType: 'private',
  },
  'repositoryCommit cannot be combined with repositoryTag; set only one of repositoryTag, repositorySemver, repositoryCommit':
    { ...SSH, repositoryTag: 'v1', repositoryCommit: 'a'.repeat(40) },
  'repositoryInterval "2562048h" exceeds the longest duration that Flux supports; use a shorter one, for example 24h': {
    ...SSH,
    repositoryInterval: '2562048h',
  },
  [`knownHosts has no valid host key in line 2; ${KEY_LINES}`]: {
    ...SSH,
    knownHosts: `${hostKey('github.com')}\n-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET`,
  },
  [`knownHosts contains no host key; ${KEY_LINES}`]: { ...SSH, knownHosts: '# nothing yet' },
  'knownHosts has no line for github.com; add the lines that ssh-keyscan github.com prints, or use scan': {
    ...SSH,
    knownHosts: hostKey('gitlab.com'),
  },
  'sshKeyType "ecdsa" is not a valid value; use one of ed25519, rsa': { ...SSH, sshKeyType: 'ecdsa' },
  'networkPolicy "False" is not a valid value; did you mean false?': { networkPolicy: 'False' },
  'registry "https://ghcr.io/fluxcd" has a scheme; remove it, as in ghcr.io/fluxcd': {
    registry: 'https://ghcr.io/fluxcd',
  },
  'registry "ghcr.io/fluxcd/" ends with a slash; remove it, as in ghcr.io/fluxcd': { registry: 'ghcr.io/fluxcd/' },
  'registry "ghcr.io/Flux CD" is not a valid image prefix; use a registry and a path, for example ghcr.io/fluxcd': {
    registry: 'ghcr.io/Flux CD',
  },
  [`namespace "Flux" ${NO_NAMESPACE}`]: { namespace: 'Flux' },
  'components "kustomize-controler" is not a component of Flux; did you mean kustomize-controller?': {
    components: 'source-controller, kustomize-controler',
  },
  'componentsExtra "Image_Controller" is not a component of Flux; the components are source-controller, kustomize-controller, helm-controller, notification-controller, image-reflector-controller, image-automation-controller, source-watcher':
    { componentsExtra: 'Image_Controller' },
  'components lacks kustomize-controller, which the configured source and Kustomization need; add kustomize-controller':
    { ...HTTPS, components: 'source-controller' },
  [`imagePullSecret "my_secret" ${NO_NAME}`]: { imagePullSecret: 'my_secret' },
  'clusterDomain "Cluster!" is not a valid DNS domain; use a form like cluster.local': { clusterDomain: 'Cluster!' },
  'tolerationKeys "!bad" is not a valid taint key; use a form like node-role.kubernetes.io/infra': {
    tolerationKeys: 'infra, !bad',
  },
};
/** Rows whose sentence is that of another, or that have several. */
const moreOfFluxConfig: [Record<string, string>, ...string[]][] = [
  ...Object.entries({
    'file:///srv/fleet': `"file:///srv/fleet" ${NO_URL}`,
    'git://github.com/org/fleet':
      '"git://github.com/org/fleet" is not the URL of a Git repository; use https://github.com/org/fleet',
    'https://': '"https://" is not a valid URL; use a form like ssh://git@github.com/org/repository',
    'https://git.example.com/org/my fleet':
      '"https://git.example.com/org/my fleet" contains a space; write %20 for it, as in https://git.example.com/org/my%20fleet',
    'https://user:SECRET@github.com/org/fleet': CREDENTIALS,
    'https://SECRET@github.com/org/fleet':
      'has a user name or a token before the host; remove it here, and put it into a Secret as username',
    'ftp://user:SEC@RET/SECRET@example.com/fleet': `"ftp://...@example.com/fleet" ${NO_URL}`,
  }).map(([repositoryUrl, sentence]): [Record<string, string>, string] => [
    { repositoryUrl },
    `repositoryUrl ${sentence}`,
  ]),
  [{ repositoryUrl: 'git@github.com:org/fleet.git', repositoryType: 'public' }, `repositoryType ${NEEDS_KEY}`],
  ...Object.entries({
    'git@ssh.dev.azure.com:v3/org/project/fleet': 'Azure DevOps',
    'ssh://git@SSH.dev.azure.com:22/v3/org/project/${SHOOT_NAME}': 'Azure DevOps',
    'ssh://APKA@git-codecommit.eu-central-1.amazonaws.com/v1/repos/fleet': 'AWS CodeCommit',
  }).map(([repositoryUrl, name]): [Record<string, string>, string] => [
    { repositoryUrl, repositoryType: 'private', sshKeyType: 'ed25519' },
    `sshKeyType cannot be ed25519, because ${name} takes RSA keys only; set it to rsa, or remove it`,
  ]),
  [
    { syncMode: 'Always', logLevel: 'trace' },
    'syncMode "Always" is not a valid value; use one of Once, ManifestsOnly, Reconcile',
    'logLevel "trace" is not a valid value; use one of debug, info, error',
  ],
];

describe('every invalid value of flux-config has its own sentence', () => {
  const rows = Object.entries(fluxConfigSentences).map(([sentence, data]): [Record<string, string>, string] => [
    data,
    sentence,
  ]);
  test.each<[Record<string, string>, ...string[]]>([...rows, ...moreOfFluxConfig])('%j', (data, ...sentences) => {
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
  ...{ name, apiVersion, kind },
  resourceName: `${name}-secret`,
});
const withSecret = (template: object, fields: object = {}): ConfigInputs =>
  withTemplates(template, kustomization(), { source: { template, secretResourceName: 'git' }, ...fields });
const additional = (...additionalSecretResources: object[]) => withConfig({ additionalSecretResources });
const git = (spec: object) => withTemplates(gitRepository(spec));
const oci = (spec: object) => withTemplates(ociRepository(spec));
const aBucket = (spec: object) => withTemplates(bucket(spec));
const ks = (spec: object) => withTemplates(gitRepository(), kustomization(spec));
const ofSource = (fields: object) => withTemplates(gitRepository({}, fields));
const LONG_NAME = `x/${'y'.repeat(300_000)}`;

/** The only sentence about a providerConfig, behind the path of its group -> the providerConfig. */
const providerConfigSentences: Record<string, Record<string, ConfigInputs>> = {
  '': {
    'apiVersion "flux.extensions.gardener.cloud/v1" is not a valid value; use flux.extensions.gardener.cloud/v1alpha1':
      withConfig({ apiVersion: 'flux.extensions.gardener.cloud/v1' }),
    'kind "FluxInstance" is not a valid value; use FluxConfig': withConfig({ kind: 'FluxInstance' }),
    'kustomisation is not a known key; did you mean kustomization?': withConfig({ kustomisation: {} }),
    'flux must be an object, not a string': withConfig({ flux: 'v2.9.4' }),
    'source is missing, but a kustomization is configured; add a source, or set repositoryUrl in the ConfigMap flux-config':
      withConfig({ kustomization: { template: kustomization() } }),
    'kustomization is missing, but a source is configured; add a kustomization with at least template.spec.path':
      withConfig({ source: { template: gitRepository() } }),
    'kustomization.template.spec.path is missing; set it, for example ./clusters/production': withConfig({
      source: { template: gitRepository() },
      kustomization: {},
    }),
    'kustomization.path belongs to the spec of a Kustomization; write template.spec.path': withTemplates(
      gitRepository(),
      kustomization(),
      { kustomization: { template: kustomization(), path: './' } },
    ),
  },
  'flux.': {
    'components lacks source-controller, which the configured source and Kustomization need; add source-controller':
      withTemplates(gitRepository(), kustomization(), { flux: { components: ['kustomize-controller'] } }),
  },
  'source.': {
    'template is missing; set it, for example { kind: GitRepository, spec: { url: https://github.com/org/fleet, ref: { branch: main } } }':
      withConfig({ source: {}, kustomization: { template: kustomization() } }),
    'gitRepository is not a known key; known keys are template, secretResourceName': withTemplates(
      {},
      kustomization(),
      { source: { gitRepository: {}, template: gitRepository() } },
    ),
    "secretResourceName is missing, but Flux needs a key to read over SSH; name the entry of the Shoot's spec.resources that holds identity and known_hosts":
      git({ url: 'ssh://git@github.com/org/fleet' }),
    "secretResourceName is missing, but source.template.spec.secretRef is set; name the entry of the Shoot's spec.resources that holds the credentials":
      git({ secretRef: { name: 'fleet' } }),
  },
  'source.template.': {
    'apiVersion "source.toolkit.fluxcd.io/v2" is not an API version of GitRepository; use source.toolkit.fluxcd.io/v1 or omit it':
      ofSource({ apiVersion: 'source.toolkit.fluxcd.io/v2' }),
    'kind is missing; use one of GitRepository, OCIRepository, Bucket': ofSource({ kind: undefined }),
    'kind "HelmRelease" is not a valid value; use one of GitRepository, OCIRepository, Bucket': ofSource({
      kind: 'HelmRelease',
    }),
    'kind "OciRepository" is not a valid value; did you mean OCIRepository?': ofSource({ kind: 'OciRepository' }),
    'sepc is not a known key; did you mean spec?': ofSource({ sepc: {} }),
    'metadata.uid is not a known key; known keys are name, namespace, labels, annotations': ofSource({
      metadata: { uid: 'x' },
    }),
    'spec must be an object, not a list': withTemplates({ kind: 'GitRepository', spec: [] }),
  },
  'source.template.spec.': {
    'ref is missing; set it, for example { branch: main }': git({ ref: {} }),
    'ref.brnach is not a known key; did you mean branch?': git({ ref: { brnach: 'main' } }),
    'url "git@github.com:org/fleet.git" is a form that Flux does not accept; use ssh://git@github.com/org/fleet.git':
      git({ url: 'git@github.com:org/fleet.git' }),
    'url "git@git.example.com:2222/org/fleet.git" is a form that Flux does not accept; use ssh://git@git.example.com/2222/org/fleet.git, or ssh://git@git.example.com:2222/org/fleet.git if the number is a port':
      git({ url: 'git@git.example.com:2222/org/fleet.git' }),
    [`timeout "0s" ${ZERO}`]: git({ timeout: '0s' }),
    'ref is missing; set it, for example { tag: latest }': oci({ ref: null }),
    'ref specifies no revision; set one of tag, semver, digest': oci({ ref: { branch: 'main' } }),
    [`url ${CREDENTIALS}`]: oci({ url: 'oci://user:SECRET@ghcr.io/org/manifests' }),
    'endpoint "https://s3.example.com" has a scheme; use only host and port, s3.example.com': aBucket({
      endpoint: 'https://s3.example.com',
    }),
    'endpoint "account.blob.core.windows.net" is not a URL; use the URL of the account, for example https://account.blob.core.windows.net':
      aBucket({ provider: 'azure', endpoint: 'account.blob.core.windows.net' }),
    'secretRef.name is missing; set it to the name of the Secret in the shoot': withSecret(
      gitRepository({ secretRef: { nmae: 'fleet' } }),
    ),
  },
  'kustomization.template.': {
    [`metadata.name "${'x'.repeat(64)}" is too long for the name of a Kustomization, because Flux uses it in labels; use at most 63 characters`]:
      withTemplates(gitRepository(), kustomization({}, { metadata: { name: 'x'.repeat(64) } })),
    'spec.path is missing; set it, for example ./clusters/production': ks({ path: '' }),
    [`spec.retryInterval "0m" ${ZERO}`]: ks({ retryInterval: '0m' }),
    [`spec.targetNamespace "My-Apps" ${NO_NAMESPACE}`]: ks({ targetNamespace: 'My-Apps' }),
    'spec.postBuild.substitute "cluster-name" is not a valid variable name; use letters, digits and \'_\', not starting with a digit':
      ks({ postBuild: { substitute: { 'cluster-name': 'a', _b1: 'c' } } }),
    'spec.sourceRef.kind "Gitrepository" is not a kind of source; did you mean GitRepository?': ks({
      sourceRef: { kind: 'Gitrepository', name: 'other' },
    }),
    'spec.sourceRef.kind "GitRepository" is not the kind of the configured source; use OCIRepository or omit sourceRef':
      withTemplates(ociRepository(), kustomization({ sourceRef: { kind: 'GitRepository', name: 'flux-system' } })),
  },
  additionalSecretResources: {
    ' must be a list, not an object; start each entry with "- "': withConfig({
      additionalSecretResources: { name: 'a' },
    }),
    '[0] must be an object, not a string': withConfig({ additionalSecretResources: ['a'] }),
    '[0].name is missing; set it, for example sops-age': additional({ targetName: 'a' }),
    '[0].targetname is not a known key; did you mean targetName?': additional({ name: 'a', targetname: 'b' }),
    '[0].name "a" is a WorkloadIdentity of v1 in the Shoot\'s spec.resources, which Gardener does not copy; set apiVersion security.gardener.cloud/v1alpha1 there':
      { ...additional({ name: 'a' }), shootResources: [resource('a', 'WorkloadIdentity', 'v1')] },
    '[1].targetName "a-secret" in namespace flux-system is already taken by additionalSecretResources[0]; use another targetName':
      {
        ...additional({ name: 'a' }, { name: 'b', targetName: 'a-secret' }),
        shootResources: [resource('a'), resource('b')],
      },
    [`[0].targetName "bad-" ${NO_NAME}`]: additional({ name: 'a', targetName: 'bad-' }),
    '[0].name "a" is a Pod in the Shoot\'s spec.resources, which Gardener does not copy to the control plane; use a Secret, a ConfigMap or a WorkloadIdentity':
      { ...additional({ name: 'a' }), shootResources: [resource('a', 'Pod')] },
    '[0].targetName "shoot-info" in namespace flux-system is already taken by the ConfigMap with the Shoot\'s facts; use another targetName':
      { ...additional({ name: 'a', targetName: 'shoot-info' }), shootResources: [resource('a', 'ConfigMap')] },
    '[1].name "a" in namespace flux-system is already taken by additionalSecretResources[0]; use another targetName':
      additional({ name: 'a' }, { name: 'a' }),
    '[0].targetName "flux-system" in namespace flux-system is already taken by the source\'s credentials; use another targetName':
      withSecret(gitRepository(), { additionalSecretResources: [{ name: 'a', targetName: 'flux-system' }] }),
  },
};
const NAME_RULE = "use at most 20 lowercase letters, digits and '-', starting and ending with a letter or digit";
const OWN_DOMAIN =
  'which belongs to Kubernetes, Gardener, Flux or Helm; use a key of your own domain, for example example.com/team';

/** The only sentence about an option -> the option. */
const optionSentences: Record<string, object> = {
  'imagePullSecrets is not a known key; did you mean imagePullSecret?': { imagePullSecrets: 'x' },
  'components must be a list, not a string; start each entry with "- "': { components: 'source-controller' },
  'componentsExtra[0] "image-reflector-controler" is not a component of Flux; did you mean image-reflector-controller?':
    { componentsExtra: ['image-reflector-controler'] },
  'size "huge" is not a valid value; use one of small, medium, large': { size: 'huge' },
  'imageDigests "always" is not a valid value; did you mean Always?': { imageDigests: 'always' },
  [`priorityClass "Very High" ${NO_NAME}`]: { priorityClass: 'Very High' },
  'proxy.http "proxy:3128" is not the URL of a proxy; use a form like http://proxy.example.com:3128': {
    proxy: { http: 'proxy:3128' },
  },
  'proxy.https "http://proxy/$(HOME)" is not the URL of a proxy; use a form like http://proxy.example.com:3128': {
    proxy: { https: 'http://proxy/$(HOME)' },
  },
  'proxy.https contains credentials, which anyone can read here; put the URL into a Secret under the key HTTP_PROXY or HTTPS_PROXY, and set secretName':
    { proxy: { https: 'http://me:geheim@proxy.example.com' } },
  'proxy.noProxy "a b" is not a list of hosts; separate domains, addresses and address ranges with commas, as in .example.com,10.0.0.0/8':
    { proxy: { noProxy: 'a b' } },
  'proxy.secretName excludes http and https, which the Secret contains; remove them or secretName': {
    proxy: { http: 'http://a', secretName: 'b' },
  },
  'storage.size is missing; set it, for example 10Gi': { storage: {} },
  'storage.size "10 GB" is not a size; use a number with Mi, Gi or Ti, for example 10Gi': {
    storage: { size: '10 GB' },
  },
  'sharding.shards is missing; set it, for example shard1, shard2': { sharding: {} },
  [`sharding.shards[0] "A" is not a valid name of a shard; ${NAME_RULE}`]: { sharding: { shards: ['A'] } },
  'sharding.shards has 17 entries; use at most 16': { sharding: { shards: Array(17).fill('a') } },
  'nodeSelector "a b" is not a valid label or annotation key; use a form like example.com/team': {
    nodeSelector: { 'a b': 'c' },
  },
  'nodeSelector has 101 entries; use at most 100': {
    nodeSelector: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`n${index}`, ''])),
  },
  [`commonMetadata.labels has the key "app.kubernetes.io/part-of", ${OWN_DOMAIN}`]: {
    commonMetadata: { labels: { 'app.kubernetes.io/part-of': 'mine' } },
  },
  [`commonMetadata.annotations has the key "Resources.Gardener.Cloud/ignore", ${OWN_DOMAIN}`]: {
    commonMetadata: { annotations: { 'Resources.Gardener.Cloud/ignore': 'true' } },
  },
  'featureGates "kustomise-controller" is not a component of Flux; did you mean kustomize-controller?': {
    featureGates: { 'kustomise-controller': 'GroupChangeLog=true' },
  },
  'featureGates.helm-controller "OOMWatch" is not a list of feature gates; use a form like GroupChangeLog=true,DisableStatusPollerCache=false':
    { featureGates: { 'helm-controller': 'OOMWatch' } },
  'featureGates.source-watcher is of a controller that is not installed; add it to components, or remove it': {
    featureGates: { 'source-watcher': 'A=true' },
  },
  'tenantDefaultDecryptionServiceAccount has no effect without multiTenancy and objectLevelWorkloadIdentity; set both to true, or remove it':
    { multiTenancy: true, tenantDefaultDecryptionServiceAccount: 'flux-kms' },
  'tenantDefaultKubeConfigServiceAccount has no effect without multiTenancy and objectLevelWorkloadIdentity; set both to true, or remove it':
    { objectLevelWorkloadIdentity: true, tenantDefaultKubeConfigServiceAccount: 'flux-remote' },
  'sopsAgeSecret has no effect without a Kustomization; configure a source and a kustomization, or remove it': {
    sopsAgeSecret: 'sops-age',
  },
};

/** providerConfigs that get several sentences at once. */
const moreOfProviderConfig: Record<string, [ConfigInputs, ...string[]][]> = {
  '': [
    [
      withConfig({ suspend: 'true', flux: { networkPolicy: 0 } }),
      'suspend must be true or false without quotes, not "true"',
      'flux.networkPolicy must be true or false without quotes, not a number',
    ],
  ],
  'flux.': [
    [
      withConfig({ flux: { '': 1, 'a\nb': 1, ['x'.repeat(81)]: 1 } }),
      ...['""', '"a\\nb"', `"${'x'.repeat(80)}..."`].map(
        (key) => `${key} is not a known key; known keys are ${FLUX_KEYS}`,
      ),
    ],
  ],
  'source.template.': [
    [
      ofSource({ metadata: { name: 'Fleet', namespace: 'a.b' } }),
      `metadata.name "Fleet" ${NO_NAME}`,
      `metadata.namespace "a.b" ${NO_NAMESPACE}`,
    ],
    [
      ofSource({ metadata: { labels: { tier: 1, team: 'front end' }, annotations: { 'my note': 'any thing' } } }),
      'metadata.labels.tier must be a string, not a number; put it in quotes',
      `metadata.labels.team "front end" is not a valid label value; use at most 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit`,
      'metadata.annotations "my note" is not a valid label or annotation key; use a form like example.com/team',
    ],
    [
      withTemplates({ kind: 'GitRepository' }),
      'spec.url is missing; set it, for example https://github.com/org/fleet',
      'spec.ref is missing; set it, for example { branch: main }',
    ],
  ],
  'source.template.spec.': [
    [
      git({ ref: { branch: '-x', tag: 'a^b', semver: '!', commit: 'HEAD' } }),
      `ref.branch "-x" ${NO_REF_NAME}`,
      `ref.tag "a^b" ${NO_REF_NAME}`,
      `ref.semver "!" ${NO_RANGE}`,
      `ref.commit "HEAD" ${NO_COMMIT}`,
    ],
    [
      git({ interval: '5 minutes', timeout: '1h' }),
      `interval "5 minutes" ${NO_DURATION}`,
      'timeout "1h" is not a valid timeout for a source; use numbers with the units m, s or ms, for example 60s',
    ],
    [
      oci({ url: 'oci://ghcr.io/Org/manifests', ref: { tag: 'v1 beta', digest: 'abcd1234' } }),
      'url "oci://ghcr.io/Org/manifests" is not the URL of an OCI artifact; use lowercase letters for the repository, as in oci://ghcr.io/org/manifests',
      `ref.tag "v1 beta" is not a valid tag; use at most 128 letters, digits, '_', '-' and '.', starting with a letter or digit`,
      'ref.digest "abcd1234" is not a valid digest; use a form like sha256:6f1c...',
    ],
    [
      aBucket({ bucketName: '', endpoint: '' }),
      'bucketName is missing; set it, for example fleet',
      'endpoint is missing; set it, for example s3.amazonaws.com',
    ],
  ],
  'kustomization.template.': [
    [
      withTemplates(
        gitRepository(),
        kustomization({}, { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Helm' }),
      ),
      'apiVersion "kustomize.config.k8s.io/v1beta1" is not an API version of Kustomization; use kustomize.toolkit.fluxcd.io/v1 or omit it',
      'kind "Helm" is not a valid value; use Kustomization',
    ],
    [
      ks({ prune: 'yes', interval: 60, wait: 1, timeout: '1 h' }),
      'spec.interval must be a string, not a number; put it in quotes',
      'spec.prune must be true or false without quotes, not "yes"',
      `spec.timeout "1 h" ${NO_DURATION}`,
      'spec.wait must be true or false without quotes, not a number',
    ],
  ],
};
/** The URL of an OCIRepository -> the sentence about it. */
const ofOciUrl: Record<string, string> = {
  'https://ghcr.io/org/manifests':
    'is not the URL of an OCI artifact; it must start with oci://, as in oci://ghcr.io/org/manifests',
  'oci://ghcr.io:443/org/manifests:v1': 'contains a tag; use oci://ghcr.io:443/org/manifests, and v1 as spec.ref.tag',
  'oci://ghcr.io': 'names no repository; use a form like oci://ghcr.io/org/manifests',
  'oci://ghcr.io/org/my manifests': 'contains whitespace; remove it',
};
/** The sentence about the entry `git` that a source names -> `spec.resources` of the Shoot. */
const ofSecretResource: Record<string, ConfigInputs['shootResources']> = {
  "is not an entry of the Shoot's spec.resources (it has other, more); add the entry or use another one": [
    resource('other'),
    resource('more'),
  ],
  "is not an entry of the Shoot's spec.resources (which is empty); add the entry or use another one": [],
  "is a ConfigMap in the Shoot's spec.resources, not a Secret; use an entry that refers to a Secret": [
    resource('git', 'ConfigMap'),
  ],
  "is a WorkloadIdentity in the Shoot's spec.resources, and Flux sources cannot use its token; use an entry that refers to a Secret":
    [resource('git', 'WorkloadIdentity', 'security.gardener.cloud/v1alpha1')],
  "has an incomplete resourceRef in the Shoot's spec.resources; set its apiVersion, kind and name": [
    { ...resource('git'), apiVersion: '', kind: '' },
  ],
  [`has a wrong resourceRef in the Shoot's spec.resources: its name "${LONG_NAME.slice(0, 80)}..." ${NO_NAME}`]: [
    { ...resource('git'), resourceName: LONG_NAME },
  ],
  "is a Secret of v2 in the Shoot's spec.resources, which Gardener does not copy; set apiVersion v1 there": [
    resource('git', 'Secret', 'v2'),
  ],
};
const rowsOf = (path: string, rows: [ConfigInputs, ...string[]][]) =>
  rows.map(([inputs, ...sentences]) => ({ inputs, sentences: sentences.map((text) => `${path}${text}`) }));
const ofProviderConfig = [
  ...Object.entries(providerConfigSentences).flatMap(([path, rows]) =>
    Object.entries(rows).flatMap(([sentence, inputs]) => rowsOf(path, [[inputs, sentence]])),
  ),
  ...Object.entries(optionSentences).flatMap(([sentence, flux]) => rowsOf('flux.', [[withConfig({ flux }), sentence]])),
  ...Object.entries(moreOfProviderConfig).flatMap(([path, rows]) => rowsOf(path, rows)),
  ...Object.entries(ofOciUrl).flatMap(([url, sentence]) =>
    rowsOf('source.template.spec.url ', [[oci({ url }), `${JSON.stringify(url)} ${sentence}`]]),
  ),
  ...Object.entries(ofSecretResource).flatMap(([sentence, shootResources]) =>
    rowsOf('source.secretResourceName "git" ', [[{ ...withSecret(gitRepository()), shootResources }, sentence]]),
  ),
];

test.each(ofProviderConfig)('a providerConfig: $sentences', ({ inputs, sentences }) => {
  expect(problems(inputs)).toEqual(sentences.map((text) => `providerConfig: ${text}`));
});

test('a list is no providerConfig', () => {
  expect(problems({ providerConfig: [] })).toEqual(['providerConfig must be an object, not a list']);
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
    ...withConfig({ flux: { namespace: 'A' }, syncMode: 'x' }),
  };
  expect(problems(inputs).map((text) => text.split(' "')[0])).toEqual([
    'ConfigMap garden-foo/flux-config: suspend',
    'providerConfig: syncMode',
    'providerConfig: flux.namespace',
  ]);
});

const reserved = [
  'resources.gardener.cloud/ignore',
  'Resources.Gardener.Cloud/ignore',
  'reference.resources.gardener.cloud/secret-12345678',
  'gardener.cloud/operation',
];

it.each(reserved)('refuses the annotation %s in both templates', (key) => {
  const fields = { metadata: { annotations: { [key]: 'true' } } };
  const sentence = (part: string) =>
    `providerConfig: ${part}.template.metadata.annotations has the key "${key}", which is reserved for Gardener; remove it`;
  expect(problems(withTemplates(gitRepository({}, fields), kustomization({}, fields)))).toEqual([
    sentence('source'),
    sentence('kustomization'),
  ]);
});

it('refuses such labels', () => {
  const fields = { metadata: { labels: { 'shoot.gardener.cloud/no-cleanup': 'true', team: 'a' } } };
  expect(problems(withTemplates(ociRepository({}, fields)))).toEqual([
    'providerConfig: source.template.metadata.labels has the key "shoot.gardener.cloud/no-cleanup", which is reserved for Gardener; remove it',
  ]);
});

it.each([
  'example.com/team',
  'my-gardener.cloud/team',
  'gardener.cloud.example.com/team',
  'gardener.cloud',
  'reconcile.fluxcd.io/requestedAt',
])('accepts the key %s', (key) => {
  const fields = { metadata: { annotations: { [key]: 'disabled' }, labels: { [key]: 'disabled' } } };
  expect(problems(withTemplates(gitRepository({}, fields), kustomization({}, fields)))).toEqual([]);
});

test('checks keys that every object of JavaScript inherits', () => {
  const labels: unknown = JSON.parse('{"constructor": "b", "toString": 1}');
  expect(problems(withTemplates(gitRepository({}, { metadata: { labels } })))).toEqual([
    'providerConfig: source.template.metadata.labels.toString must be a string, not a number; put it in quotes',
  ]);
});
