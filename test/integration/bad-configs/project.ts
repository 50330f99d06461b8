import { type BadConfig, HIDDEN, ofKeys, URL } from './case.ts';

const base = { repositoryUrl: URL, repositoryBranch: 'main' };

/** Mistakes in the flat keys of `flux-config`. */
const flat: BadConfig[] = [
  ofKeys(
    'a misspelt key',
    { repositoryBranche: 'main' },
    'repositoryBranche is not a known key; did you mean repositoryBranch?',
  ),
  ofKeys(
    'a range that no release matches',
    { fluxVersion: '>=3.0 <4.0' },
    'fluxVersion ">=3.0 <4.0" matches no Flux release; available releases are v2.9.99',
  ),
  ofKeys(
    'a password in the URL',
    { repositoryUrl: `https://user:${HIDDEN}@git.example.com/fleet` },
    'repositoryUrl contains credentials, which anyone can read here; put them in a Secret instead',
  ),
  ofKeys(
    'a private key as known_hosts',
    {
      repositoryUrl: 'ssh://git@git.example.com/fleet',
      repositoryType: 'private',
      knownHosts: `-----BEGIN OPENSSH PRIVATE KEY-----\n${HIDDEN}`,
    },
    'knownHosts has no valid host key in line 1; use lines as ssh-keyscan prints them (host, type, key), or scan',
  ),
  ofKeys(
    'a namespace of Kubernetes',
    { namespace: 'kube-system' },
    'namespace "kube-system" is a namespace of Kubernetes itself, where Flux\'s NetworkPolicies would cut off other pods; use another one, for example flux-system',
  ),
  ofKeys(
    'an account without tenants',
    { tenantDefaultServiceAccount: 'deployer' },
    'tenantDefaultServiceAccount has no effect without multiTenancy; set multiTenancy to true, or remove it',
  ),
];

/** Mistakes in `config.yaml` and `overrides.yaml`. */
const documents: BadConfig[] = [
  ofKeys(
    'text that is no YAML',
    { 'config.yaml': 'flux: {' },
    'config.yaml is not valid YAML in line 1, column 8: "Flow map in block collection must be sufficiently indented and end with a }"; correct it',
  ),
  ofKeys(
    'a list in place of a FluxConfig',
    { 'config.yaml': '- flux: {}' },
    'config.yaml must be an object, not a list',
  ),
  ofKeys(
    'a whole Shoot',
    { 'config.yaml': 'kind: Shoot\napiVersion: core.gardener.cloud/v1beta1' },
    'config.yaml is a Shoot of core.gardener.cloud/v1beta1; write a FluxConfig of flux.extensions.gardener.cloud/v1alpha1',
  ),
  {
    ...ofKeys(
      'a wrong field in an override',
      {
        'overrides.yaml': '- { selector: { matchLabels: { stage: dev } }, config: { flux: { size: xxl } } }',
      },
      'overrides.yaml[0].config.flux.size "xxl" is not a valid value; use one of small, medium, large',
    ),
    labels: { stage: 'dev' },
  },
  ofKeys(
    'a patch of a Kustomization that no layer has',
    { repositoryUrl: '', repositoryBranch: '', 'config.yaml': 'kustomization: { patch: { spec: { interval: 1m } } }' },
    'config.yaml.kustomization.patch has no Kustomization to change, because no lower layer has one; use template instead of patch',
  ),
];

/** Variables, and Secrets of the project. */
const inputs: BadConfig[] = [
  ofKeys(
    'a variable without its label',
    { repositoryPath: `./\${SHOOT_LABEL_stage}` },
    `repositoryPath uses \${SHOOT_LABEL_stage}, but the Shoot has no value for the label "stage"; add the label, or set the field for such Shoots in overrides.yaml`,
  ),
  {
    ...ofKeys(
      'a label that leaves its folder',
      { repositoryPath: `./clusters/\${SHOOT_LABEL_stage}` },
      `repositoryPath uses \${SHOOT_LABEL_stage}, whose value "a..b" has more than letters, digits, '.', '_' and '-'; use another variable`,
    ),
    labels: { stage: 'a..b' },
  },
  ofKeys(
    'a variable in the host',
    { repositoryUrl: `https://\${SHOOT_LABEL_host}/fleet` },
    'repositoryUrl has a variable outside of its path, where a label of a Shoot could choose the host; move it into the path',
  ),
  {
    what: 'a public key for SOPS',
    fluxConfig: base,
    ofProject: { 'flux-sops': { 'age.agekey': `age1${HIDDEN}` } },
    unknownTo: ['validate'],
    sentence:
      'Secret garden-foo/flux-sops has no line AGE-SECRET-KEY-… in "age.agekey"; add the private key as age-keygen prints it',
  },
  {
    what: 'a variable of the project with a dash',
    fluxConfig: base,
    ofProject: { 'flux-variables': { 'my-team': HIDDEN } },
    unknownTo: ['validate'],
    sentence:
      'Secret garden-foo/flux-variables has the key "my-team", which is no name of a variable; use letters, digits and \'_\', not starting with a digit',
  },
  {
    what: 'a pull secret without a registry',
    fluxConfig: base,
    ofProject: { 'flux-registry': { '.dockerconfigjson': `{"auths":{},"x":"${HIDDEN}"}` } },
    unknownTo: ['validate'],
    sentence:
      'Secret garden-foo/flux-registry has no registry under auths in .dockerconfigjson; recreate it with kubectl create secret docker-registry',
  },
];

export const ofProject = [...flat, ...documents, ...inputs];
