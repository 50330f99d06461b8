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
];

/** Mistakes in templates, references and options. */
const content: BadConfig[] = [
  ofShoot(
    'a Kustomization in the list that is a patch',
    { source: source(), kustomizations: [{ patch: { spec: { path: './apps' } } }] },
    ": kustomizations[0].patch is not possible in a list, whose entries are whole Kustomizations; write kustomization.patch to change the project's Kustomization, or template for another one",
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
];

export const ofTheShoot = [...form, ...content];
