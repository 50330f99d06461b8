import { describe, expect, it, test } from 'vitest';
import { ConfigError, issueText } from '../errors.ts';
import {
  git,
  helmRelease,
  helmRepository,
  kustomize,
  problems,
  withConfig,
  withFluxConfig,
} from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import { readLandscape } from './landscape.ts';
import type { ConfigInputs, Landscape } from './types.ts';
import { valueAt } from './values.ts';

const addons = {
  'cert-manager': {
    description: 'TLS certificates',
    objects: [helmRepository('jetstack'), helmRelease('cert-manager', 'jetstack')],
  },
  minio: {
    objects: [
      helmRepository('minio'),
      helmRelease('minio', 'minio', { values: { replicas: 4, persistence: { size: '1Gi', class: 'fast' } } }),
    ],
    values: ['persistence.size', 'resources'],
    projects: ['foo'],
  },
  velero: { objects: [git('velero'), kustomize('velero', 'velero')] },
};
const landscape: Landscape = readLandscape({ addons });

const inLandscape = (inputs: ConfigInputs, more: { [key in keyof Landscape]?: object } = {}): ConfigInputs => ({
  ...inputs,
  landscape: { ...landscape, ...more } as Landscape,
});
const listing = (...entries: unknown[]) => withConfig({ addons: entries });
const brought = (inputs: ConfigInputs) =>
  effectiveConfig(inputs).objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
const minio = ['HelmRepository minio', 'HelmRelease minio'];
const certManager = ['HelmRepository jetstack', 'HelmRelease cert-manager'];
const valuesOf = (inputs: ConfigInputs) =>
  valueAt(
    effectiveConfig(inputs).objects.find(({ kind }) => kind === 'HelmRelease'),
    'spec.values',
  );

describe('an addon', () => {
  it('brings its objects, complete like listed ones, in the order of all objects', () => {
    const { objects, origins } = effectiveConfig(
      inLandscape(withConfig({ addons: ['velero', 'cert-manager'], objects: [git('own')] })),
    );
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)).toEqual([
      'GitRepository flux-system/own',
      'GitRepository flux-system/velero',
      'HelmRepository flux-system/jetstack',
      'Kustomization flux-system/velero',
      'HelmRelease flux-system/cert-manager',
    ]);
    expect(origins['objects[4]']).toEqual({ object: 'addon cert-manager', path: 'objects[1]' });
    expect(origins['addon cert-manager']).toEqual({ object: 'providerConfig', path: 'addons[1]' });
  });

  it('is listed by a key of flux-config, its config.yaml, an override and a providerConfig', () => {
    const shoot = { labels: { stage: 'dev' } };
    const overrides = '[{ selector: { matchLabels: { stage: dev } }, config: { addons: [velero] } }]';
    expect(brought(inLandscape(withFluxConfig({ addons: 'cert-manager, minio' })))).toEqual([
      ...certManager.slice(0, 1),
      ...minio.slice(0, 1),
      ...certManager.slice(1),
      ...minio.slice(1),
    ]);
    expect(brought(inLandscape(withFluxConfig({ 'config.yaml': 'addons: [{ name: minio }]' })))).toEqual(minio);
    const overridden = { ...withFluxConfig({ addons: 'cert-manager', 'overrides.yaml': overrides }), shoot };
    expect(brought(inLandscape(overridden))).toEqual(['GitRepository velero', 'Kustomization velero']);
    expect(brought(inLandscape({ ...overridden, ...listing('minio') }))).toEqual(minio);
  });

  it('leaves with its name: the list of the highest layer counts, and an empty one removes all', () => {
    const project = withFluxConfig({ addons: 'cert-manager' });
    expect(brought(inLandscape({ ...project, ...withConfig({ addons: [] }) }))).toEqual([]);
    expect(brought(inLandscape({ ...project, ...withConfig({ objects: [] }) }))).toEqual(certManager);
  });

  it('of the project makes its edits reach Shoots that run, and one of a providerConfig does not', () => {
    expect(effectiveConfig(inLandscape(withFluxConfig({ addons: 'minio' }))).syncMode).toBe('ManifestsOnly');
    expect(effectiveConfig(inLandscape(listing('minio'))).syncMode).toBe('Once');
  });

  it('may have sources that the policy refuses to projects, which may name them', () => {
    const policy = { allowedRepositoryUrls: ['https://git.example.com/**'], allowInsecureUrls: false };
    const http = { objects: [helmRepository('old', { url: 'http://charts.example.com' }), helmRelease('old', 'old')] };
    const inputs = inLandscape(listing('old'), { policy, addons: { old: http } });
    expect(problems(inputs)).toEqual([]);
    expect(() => readLandscape({ policy, addons: { old: http } })).not.toThrow();
    expect(problems(inLandscape(withConfig({ objects: http.objects }), { policy }))).toHaveLength(2);
  });
});

it('is listed in one place of flux-config', () => {
  expect(problems(inLandscape(withFluxConfig({ addons: 'minio', 'config.yaml': 'addons: [minio]' })))).toEqual([
    'ConfigMap garden-foo/flux-config: config.yaml.addons is also set by the key addons; remove one of them',
  ]);
});

describe('values', () => {
  it('that the catalogue permits are merged into those of the HelmRelease, and null stays', () => {
    const values = { persistence: { size: '9Gi' }, resources: { limits: null } };
    expect(valuesOf(inLandscape(listing({ name: 'minio', values })))).toEqual({
      replicas: 4,
      persistence: { size: '9Gi', class: 'fast' },
      resources: { limits: null },
    });
    expect(addons.minio.objects[1]).toMatchObject({ spec: { values: { persistence: { size: '1Gi' } } } });
  });

  it('are all permitted by *', () => {
    const all = { ...addons.minio, values: ['*'] };
    const inputs = inLandscape(listing({ name: 'minio', values: { replicas: 1 } }), { addons: { minio: all } });
    expect(valuesOf(inputs)).toMatchObject({ replicas: 1, persistence: { size: '1Gi' } });
  });
});

const only = 'use one of persistence.size, resources';
test.each<[string, ConfigInputs]>(
  Object.entries({
    'providerConfig: addons[0] "cert-manger" is not an addon of this landscape (did you mean cert-manager?); use one of cert-manager, minio, velero, or remove it':
      listing('cert-manger'),
    'ConfigMap garden-foo/flux-config: addons "constructor" is not an addon of this landscape; use one of cert-manager, minio, velero, or remove it':
      withFluxConfig({ addons: 'constructor' }),
    'ConfigMap garden-bar/flux-config: addons "minio" is not allowed for project bar in this landscape; use one of cert-manager, velero, or remove it':
      { fluxConfig: { namespace: 'garden-bar', data: { addons: 'minio' } } },
    'providerConfig: addons[0] "minio" is not allowed for project bar in this landscape; use one of cert-manager, velero, or remove it':
      { ...listing('minio'), shoot: { labels: {}, facts: { SHOOT_PROJECT: 'bar' } } },
    'providerConfig: addons[1] "velero" is listed twice; remove one of them': listing('velero', { name: 'velero' }),
    'providerConfig: addons[0].values cannot be set, because the addon "velero" has none that projects may set; remove them':
      listing({ name: 'velero', values: { a: 1 } }),
    [`providerConfig: addons[0].values.replicas is not a value of "minio" that projects may set; ${only}`]: listing({
      name: 'minio',
      values: { replicas: 1, persistence: { size: '2Gi' } },
    }),
    [`providerConfig: addons[0].values.persistence is not a value of "minio" that projects may set; ${only}`]: listing({
      name: 'minio',
      values: { persistence: {} },
    }),
    'providerConfig: addons[0].nam is not a known key; did you mean name?': listing({ name: 'minio', nam: 'x' }),
    'addon velero: objects[1].metadata.name "velero" is already the name of the Kustomization at objects[0] in namespace flux-system; use another name there, or remove one of the two':
      withConfig({ addons: ['velero'], sources: undefined, objects: [kustomize('velero', 'velero')] }),
  }),
)('%s', (sentence, inputs) => {
  expect(problems(inLandscape(inputs))).toEqual([sentence]);
});

test('an addon says that the landscape has none, and that nothing is known of the landscape', () => {
  expect(problems({ ...listing('minio'), landscape: {} })).toEqual([
    'providerConfig: addons[0] "minio" is not available, because this landscape has no addons; remove it',
  ]);
  const { objects, warnings } = effectiveConfig(listing('minio'));
  expect(objects).toEqual([]);
  expect(warnings?.map(issueText)).toEqual([
    'providerConfig: addons[0] "minio" is an addon, and what it brings is not known here; pass the config file of the landscape with --config',
  ]);
});

test('what depends on the catalogue is a matter of the landscape, so that its change fails no Shoot', () => {
  const rulesOf = (inputs: ConfigInputs) => {
    try {
      effectiveConfig(inputs);
    } catch (error) {
      if (error instanceof ConfigError) return error.issues.map(({ rule }) => rule);
    }
    return 'no error';
  };
  expect(rulesOf({ ...listing('minio'), landscape: {} })).toEqual(['addons']);
  expect(rulesOf(inLandscape(listing({ name: 'minio', values: { replicas: 1 } })))).toEqual(['addons']);
  expect(rulesOf(inLandscape(withConfig({ addons: ['velero'], objects: [git('velero')] })))).toEqual(['addons']);
});

describe('a catalogue', () => {
  const read = (catalogue: object, more: object = {}) =>
    problems({}, () => readLandscape({ addons: catalogue, ...more }));
  const release = helmRelease('minio', 'minio');

  test.each<[string, object]>(
    Object.entries({
      "addon Minio \"Minio\" is not a valid object name; use at most 253 lowercase letters, digits, '-' and '.', where each part between dots starts and ends with a letter or digit":
        { Minio: addons.velero },
      'addon minio: objects is missing; list what the addon brings': { minio: {} },
      'addon minio: object is not a known key; did you mean objects?': { minio: { object: [] } },
      'addon minio: objects[0].kind "Secret" is not a kind of Flux; use one of GitRepository, OCIRepository, Bucket, HelmRepository, HelmChart, ExternalArtifact, ArtifactGenerator, Provider, Alert, Receiver, ImageRepository, ImagePolicy, ImageUpdateAutomation, Kustomization, HelmRelease, or put the object into the repository':
        { minio: { objects: [{ kind: 'Secret', metadata: { name: 'x' } }] } },
      'addon minio: values needs one HelmRelease that takes them, but objects has 0': {
        minio: { objects: [helmRepository('minio')], values: ['*'] },
      },
      'addon minio: values[0] "a..b" is not the path of a value; use keys with dots between, for example persistence.size, or * for all':
        { minio: { ...addons.minio, values: ['a..b'] } },
      'addon minio: projects is empty, which would permit no project; add one, or remove the addon': {
        minio: { ...addons.minio, projects: [] },
      },
      'addon minio: objects[0].spec.sourceRef is missing; name a source of the addon, which has no root source': {
        minio: { objects: [kustomize('minio', 'minio', { sourceRef: undefined })] },
      },
      'addon minio: objects[0].spec.chart.spec.sourceRef names HelmRepository "minio" in namespace flux-system, which the configuration does not have; add it to the configuration, or move this object to the repository that has it':
        { minio: { objects: [release] } },
    }),
  )('%s', (sentence, catalogue) => {
    expect(read(catalogue)).toEqual([sentence]);
  });

  it('has a limit', () => {
    expect(read({ minio: { description: 'x'.repeat(140_000), objects: [] } })).toEqual([
      "the landscape's catalogue of addons is longer than 128 KiB; move long content to the repository",
    ]);
  });

  it('has addons that stand alone, whatever the defaults have', () => {
    const template = git('fleet');
    const pair = { source: { template }, kustomization: { template: { spec: { path: './' } } } };
    const borrowed = { objects: [kustomize('x', 'fleet')] };
    expect(read({ borrowed }, { defaults: pair })).toEqual([
      expect.stringMatching(/^addon borrowed: objects\[0\]\.spec\.sourceRef names GitRepository "fleet"/),
    ]);
    expect(read(addons, { defaults: pair })).toEqual([]);
  });

  it('may offer alternatives with the same names, of which a project lists one', () => {
    expect(read({ one: addons.velero, other: addons.velero })).toEqual([]);
  });

  it('has what the defaults list, which is for every project', () => {
    expect(read({}, { defaults: { addons: ['minio'] } })).toEqual([
      'the landscape\'s defaults: addons[0] "minio" is not available, because this landscape has no addons; remove it',
    ]);
    const inputs = inLandscape(
      { shoot: { labels: {}, facts: { SHOOT_PROJECT: 'bar' } } },
      { defaults: { addons: ['minio'] } },
    );
    expect(brought(inputs)).toEqual(minio);
  });
});
