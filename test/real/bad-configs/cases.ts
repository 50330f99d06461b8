import { git, helmRelease, helmRepository, kustomize } from '../../../shared/config/listed/testing.ts';
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
const policy = (spec: object) => manifest('ImagePolicy', { imageRepositoryRef: { name: 'app' }, ...spec });
const automation = (spec: object) =>
  manifest('ImageUpdateAutomation', { interval: '5m', sourceRef: { kind: 'GitRepository', name: 'g' }, ...spec });
const bot = { commit: { author: { name: 'bot', email: 'bot@example.com' } } };
const generator = (spec: object) =>
  manifest('ArtifactGenerator', {
    sources: [{ alias: 'g', kind: 'GitRepository', name: 'g' }],
    artifacts: [{ name: 'part', copy: [{ from: '@g/**', to: '@artifact/' }] }],
    ...spec,
  });
const withExtra = (...objects: object[]) => ({
  flux: { componentsExtra: ['image-reflector-controller', 'image-automation-controller', 'source-watcher'] },
  objects,
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
  inKustomization('a misspelt flag', { prun: true }, 'prun is not a known key in Flux v2.9.4; did you mean prune?'),
  inKustomization(
    'another key service',
    { decryption: { provider: 'vault' } },
    'decryption.provider "vault" is not a valid value; use sops',
  ),
  inKustomization(
    'a patch without its text',
    { patches: [{ target: { kind: 'Deployment' } }] },
    'patches[0].patch is missing; set it',
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
    'another tool for signatures',
    [oci({ verify: { provider: 'gpg' } })],
    'objects[0].spec.verify.provider "gpg" is not a valid value; use one of cosign, notation',
  ),
  listed(
    'another provider of a registry',
    [oci({ provider: 'github' })],
    'objects[0].spec.provider "github" is not a valid value; use one of generic, aws, azure, gcp',
  ),
  listed(
    'a registry over https',
    [oci({ url: 'https://ghcr.io/org/app' })],
    'objects[0].spec.url "https://ghcr.io/org/app" is not valid; use a URL that begins with oci://',
  ),
  listed(
    'a product in place of a provider',
    [bucket({ provider: 'minio' })],
    'objects[0].spec.provider "minio" is not a valid value; use one of generic, aws, gcp, azure',
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
    'another type of repository',
    [helmRepository('a', { type: 'http' })],
    'objects[0].spec.type "http" is not a valid value; use one of default, oci',
  ),
  listed(
    'two charts',
    [charts, oci({}), helmRelease('b', 'r', { chartRef: { kind: 'OCIRepository', name: 'a' } })],
    'objects[2].spec breaks a rule of its kind: either chart or chartRef must be set; correct it',
  ),
  listed(
    'no chart',
    [manifest('HelmRelease', { interval: '5m' })],
    'objects[0].spec breaks a rule of its kind: either chart or chartRef must be set; correct it',
  ),
  listed(
    'a release with a long name',
    [charts, helmRelease('a', 'r', { releaseName: 'x'.repeat(54) })],
    `objects[1].spec.releaseName "${'x'.repeat(54)}" is too long; use at most 53 characters`,
  ),
  listed(
    'a rule for CRDs',
    [charts, helmRelease('a', 'r', { install: { crds: 'Always' } })],
    'objects[1].spec.install.crds "Always" is not a valid value; use one of Skip, Create, CreateReplace',
  ),
  listed(
    'a switch in place of a mode',
    [charts, helmRelease('a', 'r', { driftDetection: { mode: 'on' } })],
    'objects[1].spec.driftDetection.mode "on" is not a valid value; use one of enabled, warn, disabled',
  ),
  listed(
    'values from elsewhere',
    [charts, helmRelease('a', 'r', { valuesFrom: [{ kind: 'Vault', name: 'a' }] })],
    'objects[1].spec.valuesFrom[0].kind "Vault" is not a valid value; use one of Secret, ConfigMap',
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
    'a deletion policy of another product',
    [repository, kustomize('k', 'a', { deletionPolicy: 'Keep' })],
    'objects[1].spec.deletionPolicy "Keep" is not a valid value; use one of MirrorPrune, Delete, WaitForTermination, Orphan',
  ),
  listed(
    'a health check of all',
    [repository, kustomize('k', 'a', { healthChecks: [{ kind: 'Deployment' }] })],
    'objects[1].spec.healthChecks[0].name is missing; set it',
  ),
  listed(
    'a dependency as a text',
    [repository, kustomize('k', 'a', { dependsOn: ['infra'] })],
    'objects[1].spec.dependsOn[0] must be an object, not a string',
  ),
  listed(
    'an image without a name',
    [repository, kustomize('k', 'a', { images: [{ newTag: 'v1' }] })],
    'objects[1].spec.images[0].name is missing; set it',
  ),
  listed(
    'an Alert about nothing',
    [chat, manifest('Alert', { providerRef: { name: 'chat' } })],
    'objects[1].spec.eventSources is missing; set it',
  ),
  listed(
    'another severity',
    [chat, alert({ eventSeverity: 'warn' })],
    'objects[1].spec.eventSeverity "warn" is not a valid value; use one of info, error',
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
    'a commit status without commits',
    [manifest('Provider', { type: 'generic', address: 'https://a.example', commitStatusExpr: '"a"' })],
    "objects[0].spec breaks a rule of its kind: spec.commitStatusExpr is only supported for the 'github', 'gitlab', 'gitea', 'bitbucketserver', 'bitbucket', 'azuredevops' provider types; correct it",
  ),
  listed(
    'a Receiver without a secret',
    [receiver({})],
    'objects[0].spec breaks a rule of its kind: secretRef is required when type is not generic-oidc; correct it',
  ),
  of(
    'a Receiver of another type',
    { existingSecrets: ['t'], objects: [receiver({ type: 'git', secretRef: { name: 't' } })] },
    'objects[0].spec.type "git" is not a valid value; use one of generic, generic-hmac, generic-oidc, github, gitlab, bitbucket, harbor, dockerhub, quay, gcr, nexus, acr, cdevents',
  ),
  of(
    'an interval that reflects nothing',
    withExtra(app, policy({ interval: '5m', policy: { semver: { range: '1.x' } } })),
    "objects[1].spec breaks a rule of its kind: spec.interval is only accepted when spec.digestReflectionPolicy is set to 'Always'; correct it",
  ),
  of(
    'another order',
    withExtra(app, policy({ policy: { numerical: { order: 'up' } } })),
    'objects[1].spec.policy.numerical.order "up" is not a valid value; use one of asc, desc',
  ),
  of(
    'no range',
    withExtra(app, policy({ policy: { semver: {} } })),
    'objects[1].spec.policy.semver.range is missing; set it',
  ),
  of(
    'no image',
    withExtra(manifest('ImageRepository', { interval: '5m' })),
    'objects[0].spec.image is missing; set it',
  ),
  of(
    'an author without an address',
    withExtra(git('g'), automation({ git: { commit: { author: { name: 'bot' } } } })),
    'objects[1].spec.git.commit.author.email is missing; set it',
  ),
  of(
    'another strategy',
    withExtra(git('g'), automation({ git: bot, update: { path: './', strategy: 'Rewrite' } })),
    'objects[1].spec.update.strategy "Rewrite" is not a valid value; use Setters',
  ),
  of(
    'an artifact of nothing',
    withExtra(git('g'), generator({ artifacts: [{ name: 'part' }] })),
    'objects[1].spec.artifacts[0].copy is missing; set it',
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
