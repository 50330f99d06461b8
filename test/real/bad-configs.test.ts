import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { expect, test } from 'vitest';
import { git, helmRelease, helmRepository, kustomize } from '../../shared/config/config.fixtures.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import {
  type BadConfig,
  expectOneSentence,
  kustomization,
  ofKeys,
  ofShoot,
  source,
  validated,
} from '../integration/bad-configs/case.ts';
import { badConfigs } from '../integration/bad-configs/cases.ts';
import { describeShoots } from '../integration/bad-configs/shoots.ts';
import { speedUpTime } from '../integration/fast-clock.ts';
import { testDistribution } from '../made-distribution.ts';

speedUpTime();

const manifest = (kind: string, spec: object) => ({ kind, metadata: { name: 'a' }, spec });
const oci = (spec: object) =>
  manifest('OCIRepository', { url: 'oci://ghcr.io/org/app', ref: { tag: 'latest' }, interval: '5m', ...spec });
const app = manifest('ImageRepository', { image: 'ghcr.io/org/app', interval: '5m' });
const alert = manifest('Alert', { providerRef: { name: 'chat' }, eventSources: [{ kind: 'Deployment', name: '*' }] });
const chat = {
  ...{ kind: 'Provider', metadata: { name: 'chat' } },
  spec: { type: 'slack', address: 'https://hooks.example.com' },
};
const generator = manifest('ArtifactGenerator', {
  sources: [{ alias: 'g', kind: 'GitRepository', name: 'g' }],
  artifacts: [{ name: 'part', copy: [{ from: '@g/**', to: '@artifact/' }] }],
});
const of = (what: string, fields: object, sentence: string): BadConfig =>
  ofShoot(what, fields, `: ${sentence}`, { unknownTo: ['admission'] });
const listed = (what: string, objects: object[], sentence: string) => of(what, { objects }, sentence);
const chartRef = { kind: 'OCIRepository', name: 'a' };
const olderField =
  'known keys are ignore, include, interval, proxySecretRef, recurseSubmodules, ref, secretRef, suspend, timeout, url, verify';

/** Mistakes that only the CustomResourceDefinitions of a release show, in each place that has fields of theirs. */
const realCases: BadConfig[] = [
  of(
    'a misspelt branch',
    { source: source({ ref: { brnch: 'main' } }), kustomization: kustomization() },
    'source.template.spec.ref.brnch is not a known key; did you mean branch?',
  ),
  of(
    'another key service',
    { source: source(), kustomization: kustomization({ decryption: { provider: 'vault' } }) },
    'kustomization.template.spec.decryption.provider "vault" is not a valid value; use sops',
  ),
  ofKeys(
    'a wrong field in config.yaml',
    { 'config.yaml': 'kustomization: { patch: { spec: { deletionPolicy: Keep } } }' },
    'config.yaml.kustomization.patch.spec.deletionPolicy "Keep" is not a valid value; use one of MirrorPrune, Delete, WaitForTermination, Orphan',
  ),
  listed(
    'a unit that Flux does not know',
    [helmRepository('r'), helmRelease('b', 'r', { timeout: '5min' })],
    'objects[1].spec.timeout "5min" is not a duration; use numbers with the units h, m, s or ms, for example 5m or 1h30m',
  ),
  listed(
    'charts over ftp',
    [helmRepository('a', { url: 'ftp://charts.example.com' })],
    'objects[0].spec.url "ftp://charts.example.com" is not valid; use a URL that begins with http://, https://, or oci://',
  ),
  listed(
    'two charts',
    [helmRepository('r'), oci({}), helmRelease('b', 'r', { chartRef })],
    'objects[2].spec breaks a rule of its kind: either chart or chartRef must be set; correct it',
  ),
  listed(
    'a field in other letters',
    [helmRepository('r'), helmRelease('a', 'r', { rollback: { timeOut: '5m' } })],
    'objects[1].spec.rollback.timeOut is not a known key in Flux v2.9.4; did you mean timeout?',
  ),
  listed(
    'a number as a variable',
    [git('a'), kustomize('k', 'a', { postBuild: { substitute: { replicas: 3 } } })],
    'objects[1].spec.postBuild.substitute.replicas must be a string, not a number; put it in quotes',
  ),
  listed(
    'an Alert about workloads',
    [chat, alert],
    'objects[1].spec.eventSources[0].kind "Deployment" is not a valid value; use one of Bucket, GitRepository, Kustomization, HelmRelease, HelmChart, HelmRepository, ImageRepository, ImagePolicy, ImageUpdateAutomation, OCIRepository, ArtifactGenerator, ExternalArtifact',
  ),
  // What another release would accept.
  of(
    'a kind of a newer release',
    { flux: { version: 'v2.6.4' }, objects: [git('g'), generator] },
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

const NEWEST = 'v2.9.4';
const folder = await testDistribution();
if (folder === undefined) test.skip(testDataMissing);
const cases = folder === undefined ? [] : realCases;
const others = folder === undefined ? [] : await withRealRelease(badConfigs, folder);

/** Those whose sentences name the releases of the distribution or the components of one; the rest says the same. */
async function withRealRelease(configs: BadConfig[], dir: string): Promise<BadConfig[]> {
  const distribution = openDistribution(dir);
  const versions = await distribution.versions();
  const components = componentsOf(await distribution.release(NEWEST));
  const named = (sentence: string) =>
    sentence
      .replace('available releases are v2.9.99', `available releases are ${versions.join(', ')}`)
      .replace(/\(its components are [\w, -]+\)/, `(its components are ${components.join(', ')})`)
      .replaceAll('v2.9.99', NEWEST);
  return configs
    .map((config) => ({ ...config, sentence: named(config.sentence) }))
    .filter(({ sentence }, index) => sentence !== configs[index]?.sentence);
}

test.each(cases)('is one sentence with object and remedy: $what', ({ sentence }) => {
  expectOneSentence(sentence.replace(/^configuration: /, 'providerConfig: '));
});

const known = [...cases, ...others].filter(({ unknownTo = [] }) => !unknownTo.includes('validate'));

test.each(known)('validate says it with a real release: $what', async (config) => {
  expect(await validated(config, folder ?? '')).toEqual({ code: 1, out: `${config.sentence}\n`, err: '' });
});

/** A running Flux is never replaced by an older one, whatever else is wrong. */
const ofNewest = cases.filter(({ sentence }) => !/Flux v2\.[36]/.test(sentence));

if (folder !== undefined) {
  describeShoots(cases, folder, ['a new Shoot']);
  describeShoots(ofNewest, folder, ['a running Shoot']);
}
