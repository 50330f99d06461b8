import { git, helmRelease, helmRepository, kustomize } from '../../../shared/config/config.fixtures.ts';
import { type BadConfig, kustomization, ofKeys, ofShoot, source } from '../../integration/bad-configs/case.ts';

const manifest = (kind: string, spec: object) => ({ kind, metadata: { name: 'a' }, spec });
const oci = (spec: object) =>
  manifest('OCIRepository', { url: 'oci://ghcr.io/org/app', ref: { tag: 'latest' }, interval: '5m', ...spec });
const bucket = (spec: object) =>
  manifest('Bucket', { bucketName: 'fleet', endpoint: 's3.example.com', interval: '5m', ...spec });
const chat = {
  kind: 'Provider',
  metadata: { name: 'chat' },
  spec: { type: 'slack', address: 'https://hooks.example.com' },
};
const alert = (spec: object) =>
  manifest('Alert', { providerRef: { name: 'chat' }, eventSources: [{ kind: 'Kustomization', name: '*' }], ...spec });
const receiver = (spec: object) =>
  manifest('Receiver', { type: 'github', resources: [{ kind: 'GitRepository', name: '*' }], ...spec });
const app = { kind: 'ImageRepository', metadata: { name: 'app' }, spec: { image: 'ghcr.io/org/app', interval: '5m' } };
const generator = (spec: object) =>
  manifest('ArtifactGenerator', {
    sources: [{ alias: 'g', kind: 'GitRepository', name: 'g' }],
    artifacts: [{ name: 'part', copy: [{ from: '@g/**', to: '@artifact/' }] }],
    ...spec,
  });
const of = (what: string, fields: object, sentence: string): BadConfig =>
  ofShoot(what, fields, `: ${sentence}`, { unknownTo: ['admission'] });
const listed = (what: string, objects: object[], sentence: string) => of(what, { objects }, sentence);
const inSource = (what: string, spec: object, sentence: string) =>
  of(what, { source: source(spec), kustomization: kustomization() }, `source.template.spec.${sentence}`);
const inKustomization = (what: string, spec: object, sentence: string) =>
  of(what, { source: source(), kustomization: kustomization(spec) }, `kustomization.template.spec.${sentence}`);

/** Mistakes in the source and the root Kustomization that only the CustomResourceDefinitions of a release show. */
const roots: BadConfig[] = [
  inSource('a misspelt branch', { ref: { brnch: 'main' } }, 'ref.brnch is not a known key; did you mean branch?'),
  inSource(
    'a field in the singular',
    { recurseSubmodule: true },
    'recurseSubmodule is not a known key in Flux v2.9.4; did you mean recurseSubmodules?',
  ),
  inSource(
    'a misspelt provider',
    { provider: 'githup' },
    'provider "githup" is not a valid value; did you mean github?',
  ),
  inSource(
    'an include without its repository',
    { include: [{ fromPath: './' }] },
    'include[0].repository is missing; set it',
  ),
  inKustomization(
    'another key service',
    { decryption: { provider: 'vault' } },
    'decryption.provider "vault" is not a valid value; use sops',
  ),
  {
    ...ofKeys(
      'a wrong field in config.yaml',
      { 'config.yaml': 'kustomization: { patch: { spec: { deletionPolicy: Keep } } }' },
      'config.yaml.kustomization.patch.spec.deletionPolicy "Keep" is not a valid value; use one of MirrorPrune, Delete, WaitForTermination, Orphan',
    ),
  },
];

const charts = helmRepository('r');
const repository = git('a');

/** Mistakes in listed objects. */
const objects: BadConfig[] = [
  listed(
    'a unit that Flux does not know',
    [git('a', { timeout: '5min' })],
    'objects[0].spec.timeout "5min" is not a duration; use numbers with the units h, m, s or ms, for example 5m or 1h30m',
  ),
  listed(
    'a Secret as a text',
    [git('a', { secretRef: 'token' })],
    'objects[0].spec.secretRef must be an object, not a string',
  ),
  listed(
    'an operation on layers',
    [oci({ layerSelector: { operation: 'untar' } })],
    'objects[0].spec.layerSelector.operation "untar" is not a valid value; use one of extract, copy',
  ),
  listed(
    'a registry over https',
    [oci({ url: 'https://ghcr.io/org/app' })],
    'objects[0].spec.url "https://ghcr.io/org/app" is not valid; use a URL that begins with oci://',
  ),
  listed(
    'a token service of another provider',
    [bucket({ provider: 'gcp', sts: { provider: 'aws', endpoint: 'https://sts.example.com' } })],
    "objects[0].spec breaks a rule of its kind: STS configuration is only supported for the 'aws' and 'generic' Bucket providers; correct it",
  ),
  listed(
    'a bucket without a name',
    [manifest('Bucket', { endpoint: 's3.example.com', interval: '5m' })],
    'objects[0].spec.bucketName is missing; set it',
  ),
  listed(
    'charts over ftp',
    [helmRepository('a', { url: 'ftp://charts.example.com' })],
    'objects[0].spec.url "ftp://charts.example.com" is not valid; use a URL that begins with http://, https://, or oci://',
  ),
  listed(
    'two charts',
    [charts, oci({}), helmRelease('b', 'r', { chartRef: { kind: 'OCIRepository', name: 'a' } })],
    'objects[2].spec breaks a rule of its kind: either chart or chartRef must be set; correct it',
  ),
  listed(
    'a release with a long name',
    [charts, helmRelease('a', 'r', { releaseName: 'x'.repeat(54) })],
    `objects[1].spec.releaseName "${'x'.repeat(54)}" is too long; use at most 53 characters`,
  ),
  listed(
    'a number in words',
    [charts, helmRelease('a', 'r', { install: { remediation: { retries: 'three' } } })],
    'objects[1].spec.install.remediation.retries must be an integer, not a string',
  ),
  listed(
    'a field in other letters',
    [charts, helmRelease('a', 'r', { rollback: { timeOut: '5m' } })],
    'objects[1].spec.rollback.timeOut is not a known key in Flux v2.9.4; did you mean timeout?',
  ),
  listed(
    'variables as a list',
    [repository, kustomize('k', 'a', { postBuild: { substitute: [{ a: 'b' }] } })],
    'objects[1].spec.postBuild.substitute must be an object, not a list',
  ),
  listed(
    'a number as a variable',
    [repository, kustomize('k', 'a', { postBuild: { substitute: { replicas: 3 } } })],
    'objects[1].spec.postBuild.substitute.replicas must be a string, not a number; put it in quotes',
  ),
  listed(
    'an Alert about workloads',
    [chat, alert({ eventSources: [{ kind: 'Deployment', name: '*' }] })],
    'objects[1].spec.eventSources[0].kind "Deployment" is not a valid value; use one of Bucket, GitRepository, Kustomization, HelmRelease, HelmChart, HelmRepository, ImageRepository, ImagePolicy, ImageUpdateAutomation, OCIRepository, ArtifactGenerator, ExternalArtifact',
  ),
  listed(
    'a service with a capital',
    [manifest('Provider', { type: 'Slack', address: 'https://a.example' })],
    'objects[0].spec.type "Slack" is not a valid value; did you mean slack?',
  ),
  listed(
    'a Receiver without a secret',
    [receiver({})],
    'objects[0].spec breaks a rule of its kind: secretRef is required when type is not generic-oidc; correct it',
  ),
];

const olderField =
  'known keys are ignore, include, interval, proxySecretRef, recurseSubmodules, ref, secretRef, suspend, timeout, url, verify';

/** What another release would accept. */
const releases: BadConfig[] = [
  of(
    'a kind of a newer release',
    { flux: { version: 'v2.6.4' }, objects: [git('g'), generator({})] },
    'flux.version resolves to Flux v2.6.4, which does not support the configured ArtifactGenerator; use another release',
  ),
  of(
    'a field of a newer release',
    { flux: { version: 'v2.3.0' }, source: source({ sparseCheckout: ['clusters'] }), kustomization: kustomization() },
    `source.template.spec.sparseCheckout is not a known key in Flux v2.3.0; ${olderField}`,
  ),
  of(
    'a component of a newer release',
    { flux: { version: 'v2.6.4', componentsExtra: ['source-watcher'] } },
    'flux.componentsExtra[0] "source-watcher" is not a component of Flux v2.6.4 (its components are helm-controller, image-automation-controller, image-reflector-controller, kustomize-controller, notification-controller, source-controller); remove it or use another release',
  ),
  {
    ...of('a kind whose controller is missing', { objects: [app] }, ''),
    sentence:
      'configuration: flux.components lacks image-reflector-controller, which the configured ImageRepository needs; add image-reflector-controller with componentsExtra',
  },
];

export const realCases: BadConfig[] = [...roots, ...objects, ...releases];
