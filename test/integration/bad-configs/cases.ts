// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { git, kustomize } from '../../../shared/config/config.fixtures.ts';
import { type BadConfig, HIDDEN, kustomization, ofKeys, ofShoot, source, URL } from './case.ts';

const evil = 'rbac.authorization.k8s.io/v1';
const quoted = 'a"\nprune: true';
const values = Array.from({ length: 5100 }, (_, index) => `k${index}: 1`).join('\n');
const privileged = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' } },
  spec: { template: { spec: { containers: [{ name: 'manager', securityContext: { privileged: true } }] } } },
};

/** The only sentence about keys of `flux-config` beside a valid repository -> these keys. */
const keys: Record<string, Record<string, string>> = {
  'repositoryBranche is not a known key; did you mean repositoryBranch?': { repositoryBranche: 'main' },
  'fluxVersion ">=3.0 <4.0" matches no Flux release; available releases are v2.9.99': { fluxVersion: '>=3.0 <4.0' },
  'namespace "kube-system" is a namespace of Kubernetes itself, where Flux\'s NetworkPolicies would cut off other pods; use another one, for example flux-system':
    { namespace: 'kube-system' },
  'tenantDefaultServiceAccount has no effect without multiTenancy; set multiTenancy to true, or remove it': {
    tenantDefaultServiceAccount: 'deployer',
  },
  'config.yaml is a Shoot of core.gardener.cloud/v1beta1; write a FluxConfig of flux.extensions.gardener.cloud/v1alpha1':
    { 'config.yaml': 'kind: Shoot\napiVersion: core.gardener.cloud/v1beta1' },
  'config.yaml has more than 5,000 values in all its objects and lists; move long content to the repository': {
    'config.yaml': values,
  },
  'repositoryUrl contains credentials, which anyone can read here; put them in a Secret instead': {
    repositoryUrl: `https://user%40corp:${HIDDEN}@git.example.com/fleet`,
  },
  'repositoryUrl "https://...@evil.example/fleet" contains a backslash; use only slashes': {
    repositoryUrl: 'https://git.example.com\\@evil.example/fleet',
  },
  'repositoryUrl has a variable outside of its path, where a label of a Shoot could choose the host; move it into the path':
    { repositoryUrl: 'ssh://${SHOOT_LABEL_user}@git.example.com/fleet', repositoryType: 'private' },
  'repositoryPath has ${SHOOT_… without a } of its own; close it, and write no variable inside another one': {
    repositoryPath: './${SHOOT_LABEL_${SHOOT_NAME}}',
  },
  'repositoryPath uses ${SHOOT_LABEL___proto__}, but "__proto__" is not the key of a label; write only the key, and set the field for Shoots without the label in overrides.yaml':
    { repositoryPath: './${SHOOT_LABEL___proto__}' },
};

/** What follows `providerConfig` in the only sentence about it -> its fields. */
const fields: Record<string, object> = {
  ": kustomization.path belongs to the spec of a Kustomization; write patch.spec.path to change the project's Kustomization, or template.spec.path for another one":
    { kustomization: { path: './apps' } },
  ': source.url belongs to the spec of a source; write template.spec.url': { source: { url: URL } },
  ": kustomization.spec belongs to the manifest of a Kustomization; write patch.spec to change the project's Kustomization, or template.spec for another one":
    { kustomization: { spec: { path: './apps' } } },
  ": kustomizations[0].patch is not possible in a list, whose entries are whole Kustomizations; write kustomization.patch to change the project's Kustomization, or template for another one":
    { source: source(), kustomizations: [{ patch: { spec: { path: './apps' } } }] },
  ': source.template.metadata.namespace "../kube-system" is not a valid namespace name; use at most 63 lowercase letters, digits and \'-\', starting and ending with a letter or digit':
    { source: source({}, { metadata: { namespace: '../kube-system' } }), kustomization: kustomization() },
  ': flux.landscapePullSecret is not a known key; known keys are version, registry, namespace, components, componentsExtra, imagePullSecret, networkPolicy, watchAllNamespaces, logLevel, clusterDomain, tolerationKeys, multiTenancy, tenantDefaultServiceAccount, objectLevelWorkloadIdentity, tenantDefaultDecryptionServiceAccount, tenantDefaultKubeConfigServiceAccount, watchConfigs, featureGates, size, priorityClass, imageDigests, sopsAgeSecret, nodeSelector, commonMetadata, proxy, storage, sharding, patches':
    { flux: { landscapePullSecret: 'pull' } },
  ': objects[0].kind "ClusterRoleBinding" is not a kind of Flux; use one of GitRepository, OCIRepository, Bucket, HelmRepository, HelmChart, ExternalArtifact, ArtifactGenerator, Provider, Alert, Receiver, ImageRepository, ImagePolicy, ImageUpdateAutomation, Kustomization, HelmRelease, or put the object into the repository':
    { objects: [{ apiVersion: evil, kind: 'ClusterRoleBinding', metadata: { name: HIDDEN } }] },
  ": objects[0].metadata.name \"../../secrets/x\" is not a valid object name; use at most 253 lowercase letters, digits, '-' and '.', where each part between dots starts and ends with a letter or digit":
    { objects: [{ ...git('a'), metadata: { name: '../../secrets/x' } }] },
  ': objects[0].apiVersion "source.toolkit.fluxcd.io.evil.example/v1" is not an API version of GitRepository; use source.toolkit.fluxcd.io/v1 or omit it':
    { objects: [{ ...git('a'), apiVersion: 'source.toolkit.fluxcd.io.evil.example/v1' }] },
  ': objects[1].spec.sourceRef names an object in namespace team, which multiTenancy does not permit; use one in flux-system':
    {
      flux: { multiTenancy: true },
      objects: [
        { ...git('a'), metadata: { name: 'a', namespace: 'team' } },
        kustomize('b', 'a', { sourceRef: { kind: 'GitRepository', name: 'a', namespace: 'team' } }),
      ],
    },
  // The letters are Cyrillic.
  ': sour\u0441e is not a known key; did you mean source?': { sour\u0441e: source() },
  ': objects[0].kind "GitR\u0435pository" is not a kind of Flux; did you mean GitRepository?': {
    objects: [{ ...git('a'), kind: 'GitR\u0435pository' }],
  },
  ' has the key "__proto__", which is not supported; remove it': JSON.parse(
    '{"flux":{"__proto__":{"logLevel":"debug"}}}',
  ),
};

/** The same where admission, which reads no release, cannot know the sentence. */
const fieldsOfReleases: Record<string, object> = {
  ': flux.componentsExtra[0] "backup-controller" is not a component of Flux v2.9.99 (its components are helm-controller, kustomize-controller, notification-controller, source-controller); remove it or use another release':
    { flux: { componentsExtra: ['backup-controller'] } },
  ': flux.components lacks notification-controller, which the configured Provider needs; add notification-controller': {
    flux: { components: ['source-controller', 'kustomize-controller'] },
    objects: [{ kind: 'Provider', metadata: { name: 'b' }, spec: { type: 'generic', address: 'https://a.example' } }],
  },
  ': flux.patches[0] gives Deployment kustomize-controller the rights of its node (privileged); remove it': {
    flux: {
      patches: [{ target: { kind: 'Deployment', name: 'kustomize-controller' }, patch: JSON.stringify(privileged) }],
    },
  },
};

/** Those that need something else than one text. */
const others: BadConfig[] = [
  {
    what: 'the resource of another installer',
    providerConfig: { apiVersion: 'fluxcd.controlplane.io/v1', kind: 'FluxInstance', spec: { distribution: {} } },
    sentence:
      'providerConfig is a FluxInstance of fluxcd.controlplane.io/v1; write a FluxConfig of flux.extensions.gardener.cloud/v1alpha1',
  },
  {
    ...ofKeys(
      'a label with a quotation mark and a line break',
      { repositoryPath: './${SHOOT_LABEL_team}' },
      "repositoryPath uses ${SHOOT_LABEL_team}, whose value \"a\\\"\\nprune: true\" has more than letters, digits, '.', '_' and '-'; use another variable",
    ),
    labels: { team: quoted },
    isRefusedByApi: true,
  },
  {
    ...ofKeys(
      'a wrong field in the override of a label',
      { 'overrides.yaml': '- { selector: { matchLabels: { stage: dev } }, config: { flux: { size: xxl } } }' },
      'overrides.yaml[0].config.flux.size "xxl" is not a valid value; use one of small, medium, large',
    ),
    labels: { stage: 'dev' },
  },
  {
    ...ofKeys('a public key for SOPS', {}, ''),
    ofProject: { 'flux-sops': { 'age.agekey': `age1${HIDDEN}` } },
    unknownTo: ['validate'],
    sentence:
      'Secret garden-foo/flux-sops has no line AGE-SECRET-KEY-… in "age.agekey"; add the private key as age-keygen prints it',
  },
  ofShoot(
    'a Secret without the key that Flux reads',
    {
      objects: [git('a', { secretRef: { name: 'its-token' } })],
      additionalSecretResources: [{ name: 'token' }],
    },
    ': objects[0].spec.secretRef names Secret flux-system/its-token, which has no password; add the key to the original of the Secret',
    {
      ...{ resources: { token: 'Secret' }, contents: { token: { username: HIDDEN } } },
      unknownTo: ['validate', 'admission'],
    },
  ),
];

const admission: BadConfig['unknownTo'] = ['admission'];

/**
 * One of each kind and way in, and those with a sentence that no test of the configuration has. Beside mistakes, these are
 * what a tenant writes to reach for other namespaces, projects or rights, or to make a text mean something else.
 */
export const badConfigs: BadConfig[] = [
  ...Object.entries(keys).map(([sentence, data]) => ofKeys(sentence, data, sentence)),
  ...Object.entries(fields).map(([sentence, config]) => ofShoot(sentence, config, sentence)),
  ...Object.entries(fieldsOfReleases).map(([sentence, config]) =>
    ofShoot(sentence, config, sentence, { unknownTo: admission }),
  ),
  ...others,
];
