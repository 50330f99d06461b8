import { type BadConfig, HIDDEN, kustomization, ofShoot, source, URL } from './case.ts';

const pair = { source: source(), kustomization: kustomization() };

/** Mistakes in the form of a providerConfig. */
const form: BadConfig[] = [
  {
    what: 'a text',
    providerConfig: 'v2.9.4',
    isRefusedByApi: true,
    sentence: 'providerConfig must be an object, not a string',
  },
  {
    what: 'the resource of another installer',
    providerConfig: {
      apiVersion: 'fluxcd.controlplane.io/v1',
      kind: 'FluxInstance',
      metadata: { name: 'flux' },
      spec: { distribution: {} },
    },
    sentence:
      'providerConfig is a FluxInstance of fluxcd.controlplane.io/v1; write a FluxConfig of flux.extensions.gardener.cloud/v1alpha1',
  },
  ofShoot(
    'a version as a number',
    { flux: { version: 2.9 } },
    ': flux.version must be a string, not a number; put it in quotes',
  ),
  ofShoot(
    'a flag in quotes',
    { flux: { networkPolicy: 'false' } },
    ': flux.networkPolicy must be true or false without quotes, not "false"',
  ),
  ofShoot(
    'the path directly under kustomization',
    { kustomization: { path: './apps' } },
    ": kustomization.path belongs to the spec of a Kustomization; write patch.spec.path to change the project's Kustomization, or template.spec.path for another one",
  ),
  ofShoot(
    'the URL directly under source',
    { source: { url: URL } },
    ': source.url belongs to the spec of a source; write template.spec.url',
  ),
  ofShoot(
    'a spec without a template',
    { kustomization: { spec: { path: './apps' } } },
    ": kustomization.spec belongs to the manifest of a Kustomization; write patch.spec to change the project's Kustomization, or template.spec for another one",
  ),
  ofShoot('many levels', { source: { template: nested(70) } }, ' is nested more than 64 levels deep; flatten it'),
  ofShoot(
    'a very long text',
    { source: { template: { kind: 'GitRepository', spec: { ignore: 'x'.repeat(140_000) } } } },
    ' is longer than 128 KiB; move long content to the repository',
  ),
  ofShoot(
    '101 tolerations',
    { flux: { tolerationKeys: Array.from({ length: 101 }, (_, i) => `key-${i}`) } },
    ': flux.tolerationKeys has 101 entries; use at most 100',
  ),
];

/** Mistakes in templates, references and options. */
const content: BadConfig[] = [
  ofShoot(
    'a source without a revision',
    { source: source({ ref: {} }), kustomization: kustomization() },
    ': source.template.spec.ref is missing; set it, for example { branch: main }',
  ),
  ofShoot(
    'a kind that is no source',
    { source: { template: { kind: 'HelmRepository', spec: { url: URL } } }, kustomization: kustomization() },
    ': source.template.kind "HelmRepository" is not a valid value; use one of GitRepository, OCIRepository, Bucket',
  ),
  ofShoot(
    'a Kustomization in the list that is a patch',
    { source: source(), kustomizations: [{ patch: { spec: { path: './apps' } } }] },
    ": kustomizations[0].patch is not possible in a list, whose entries are whole Kustomizations; write kustomization.patch to change the project's Kustomization, or template for another one",
  ),
  ofShoot(
    'a name that Flux cannot use in labels',
    { source: source(), kustomization: kustomization({}, { metadata: { name: 'k'.repeat(64) } }) },
    ': kustomization.template.metadata.name "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk" is too long for the name of a Kustomization, because Flux uses it in labels; use at most 63 characters',
  ),
  ofShoot(
    'a source alone, without a Kustomization',
    { source: source() },
    ': kustomization is missing, but a source is configured; add a kustomization with at least template.spec.path',
    { unknownTo: ['admission'] },
  ),
  ofShoot(
    'credentials that the Shoot does not have',
    { ...pair, source: { ...source(), secretResourceName: 'fleet' } },
    ': source.secretResourceName "fleet" is not an entry of the Shoot\'s spec.resources (it has flet); add the entry or use another one',
    { resources: { flet: 'Secret' } },
  ),
  ofShoot(
    'credentials that are a ConfigMap',
    { ...pair, source: { ...source(), secretResourceName: 'fleet' } },
    ': source.secretResourceName "fleet" is a ConfigMap in the Shoot\'s spec.resources, not a Secret; use an entry that refers to a Secret',
    {
      resources: { fleet: 'ConfigMap' },
    },
  ),
  ofShoot(
    'a Pod to copy',
    { additionalSecretResources: [{ name: 'web' }] },
    ': additionalSecretResources[0].name "web" is a Pod in the Shoot\'s spec.resources, which Gardener does not copy to the control plane; use a Secret, a ConfigMap or a WorkloadIdentity',
    { resources: { web: 'Pod' } },
  ),
  ofShoot(
    'an annotation that Gardener obeys',
    {
      source: source(),
      kustomization: kustomization({}, { metadata: { annotations: { 'resources.gardener.cloud/ignore': 'true' } } }),
    },
    ': kustomization.template.metadata.annotations has the key "resources.gardener.cloud/ignore", which is reserved for Gardener; remove it',
  ),
  ofShoot(
    'a label with a line break',
    { source: source({}, { metadata: { labels: { team: 'a\nb: c' } } }), kustomization: kustomization() },
    ": source.template.metadata.labels.team \"a\\nb: c\" is not a valid label value; use at most 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit",
  ),
  ofShoot(
    'an owner',
    { source: source({}, { metadata: { ownerReferences: [] } }), kustomization: kustomization() },
    ': source.template.metadata.ownerReferences is not a known key; known keys are name, namespace, labels, annotations',
  ),
  ofShoot(
    'a component that no release has',
    { flux: { componentsExtra: ['backup-controller'] } },
    ': flux.componentsExtra[0] "backup-controller" is not a component of Flux v2.9.99 (its components are helm-controller, kustomize-controller, notification-controller, source-controller); remove it or use another release',
    {
      unknownTo: ['admission'],
    },
  ),
  ofShoot(
    'a release that does not exist',
    { flux: { version: 'v2.1.0' } },
    ': flux.version "v2.1.0" matches no Flux release; available releases are v2.9.99',
    { unknownTo: ['admission'] },
  ),
  ofShoot(
    'digests that the distribution does not have',
    { flux: { imageDigests: 'Always' } },
    ': flux.imageDigests "Always" requires a digest for each image, but Flux v2.9.99 in the distribution has none for source-controller, kustomize-controller, helm-controller, notification-controller; use Auto, or ask the operators of this landscape to add them with "distribution make --digests"',
    {
      unknownTo: ['admission'],
    },
  ),
  ofShoot(
    'a patch of an object that is not installed',
    {
      flux: {
        patches: [{ target: { kind: 'Deployment', name: 'helm-operator' }, patch: '[{"op":"remove","path":"/spec"}]' }],
      },
    },
    ': flux.patches[0] has target { kind: Deployment, name: helm-operator }, which selects no installed object; installed are source-controller, kustomize-controller, helm-controller, notification-controller',
    { unknownTo: ['admission'] },
  ),
  ofShoot(
    'a patch that is no YAML',
    { flux: { patches: [{ patch: '{' }] } },
    ': flux.patches[0] is not YAML: Flow map must end with a } at line 1, column 2; correct it',
  ),
  ofShoot(
    'a patch that makes an object a role of the cluster',
    {
      flux: {
        patches: [
          {
            target: { kind: 'Deployment', name: 'source-controller' },
            patch: '[{"op":"replace","path":"/kind","value":"ClusterRoleBinding"}]',
          },
        ],
      },
    },
    ': flux.patches[0] changes the kind, name or namespace of Deployment source-controller; a patch can only change the fields of an installed object',
    { unknownTo: ['admission'] },
  ),
  ofShoot(
    'a proxy with a password',
    { flux: { proxy: { http: `http://user:${HIDDEN}@proxy.example.com` } } },
    ': flux.proxy.http contains credentials, which anyone can read here; put the URL into a Secret under the key HTTP_PROXY or HTTPS_PROXY, and set secretName',
  ),
  ofShoot(
    'a shard with a wrong name',
    { flux: { sharding: { shards: ['Shard 1'] } } },
    ': flux.sharding.shards[0] "Shard 1" is not a valid name of a shard; use at most 20 lowercase letters, digits and \'-\', starting and ending with a letter or digit',
  ),
  ofShoot(
    'a disk of no size',
    { flux: { storage: { class: 'fast', size: 'big' } } },
    ': flux.storage.size "big" is not a size; use a number with Mi, Gi or Ti, for example 10Gi',
  ),
];

function nested(levels: number): object {
  return Array.from({ length: levels }).reduce<object>((inner) => ({ a: inner }), {});
}

export const ofTheShoot = [...form, ...content];
