import { describe, expect, it, test } from 'vitest';
import { issueText } from '../../errors.ts';
import {
  git,
  gitRepository,
  helmRelease,
  helmRepository,
  kustomization,
  kustomize,
  oldPipeline,
  problems,
  withConfig,
  withFluxConfig,
  withTemplates,
} from '../config.fixtures.ts';
import { effectiveConfig } from '../effective-config.ts';
import type { ConfigInputs } from '../types.ts';

const named = (name: string) => ({ metadata: { name } });
const refs = (objects: { kind: string; metadata: { name: string; namespace?: string | undefined } }[]) =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);

describe('lists of sources and Kustomizations', () => {
  test('the first entries are the root pair, with the defaults of the short form', () => {
    const lists = { sources: [{ template: gitRepository() }], kustomizations: [{ template: kustomization() }] };
    const short = { source: { template: gitRepository() }, kustomization: { template: kustomization() } };
    const { origins: _, ...fromLists } = effectiveConfig(withConfig(lists));
    const { origins: __, ...fromShort } = effectiveConfig(withConfig(short));
    expect(fromLists).toEqual(fromShort);
  });

  test('the others are objects, sources first, each with its own place', () => {
    const config = effectiveConfig(
      withConfig({
        sources: [{ template: gitRepository() }, { template: gitRepository({}, named('apps')) }],
        kustomizations: [
          { template: kustomization() },
          { template: kustomization({ sourceRef: { kind: 'GitRepository', name: 'apps' } }, named('apps')) },
          { template: kustomization({ dependsOn: [{ name: 'apps' }], suspend: true }, named('tests')) },
        ],
        objects: [git('third')],
      }),
    );
    expect(refs(config.objects)).toEqual([
      'GitRepository flux-system/apps',
      'GitRepository flux-system/third',
      'Kustomization flux-system/apps',
      'Kustomization flux-system/tests',
    ]);
    expect(config.objects.at(-1)?.spec).toEqual({
      path: './clusters/production',
      interval: '1m',
      prune: false,
      suspend: true,
      dependsOn: [{ name: 'apps' }],
      // Without a sourceRef of its own, it reads the source of the root Kustomization.
      sourceRef: { kind: 'GitRepository', name: 'flux-system', namespace: 'flux-system' },
    });
    expect(config.origins).toMatchObject({
      source: { object: 'providerConfig', path: 'sources[0].template' },
      kustomization: { path: 'kustomizations[0].template' },
      'objects[0]': { object: 'providerConfig', path: 'sources[1].template' },
      'objects[1]': { path: 'objects[0]' },
      'objects[3]': { path: 'kustomizations[2].template' },
    });
  });

  test('credentials of each source are copied beside it', () => {
    const shootResources = ['fleet', 'apps'].map((name) => ({
      ...{ name, apiVersion: 'v1', kind: 'Secret', resourceName: `${name}-credentials` },
    }));
    const inNamespace = { metadata: { name: 'apps', namespace: 'apps' } };
    const { sourceSecret, additionalSecrets } = effectiveConfig(
      withConfig(
        {
          sources: [
            { template: gitRepository({ url: 'ssh://git@git.example.com/fleet' }), secretResourceName: 'fleet' },
            { template: gitRepository({}, inNamespace), secretResourceName: 'apps' },
            { template: gitRepository({}, named('again')), secretResourceName: 'fleet' },
          ],
          kustomizations: [{ template: kustomization() }],
        },
        { shootResources },
      ),
    );
    expect(sourceSecret).toMatchObject({ targetName: 'flux-system', origin: { resourceName: 'fleet' } });
    expect(additionalSecrets).toEqual([
      { origin: { type: 'resource', resourceName: 'apps' }, targetName: 'apps', namespace: 'apps' },
      { origin: { type: 'resource', resourceName: 'fleet' }, targetName: 'again', namespace: 'flux-system' },
    ]);
  });
});

test('what the API has dropped since v1beta1 is left out with a warning', () => {
  const { objects, warnings = [] } = effectiveConfig(withConfig({ objects: oldPipeline }));
  expect(refs(objects)).toEqual(['GitRepository default/mesh', 'Kustomization default/mesh']);
  expect(objects[0]?.spec).not.toHaveProperty('gitImplementation');
  expect(objects[1]?.spec).toMatchObject({ prune: false, timeout: '2m', healthChecks: [{ name: 'mesh-control' }] });
  expect(objects[1]?.spec).not.toHaveProperty('validation');
  expect(warnings.map(issueText)).toEqual([
    'providerConfig: objects[0].spec.gitImplementation is left out, because the API has dropped it since "source.toolkit.fluxcd.io/v1beta1": there is only one implementation; remove it',
    'providerConfig: objects[1].spec.validation is left out, because the API has dropped it since "kustomize.toolkit.fluxcd.io/v1beta1": every object is validated by the API server; remove it',
  ]);
});

test('a template is read alike from v1beta1', () => {
  const template = kustomization({ validation: 'client' }, { apiVersion: 'kustomize.toolkit.fluxcd.io/v1beta1' });
  const config = effectiveConfig(withTemplates(gitRepository(), template));
  expect(config.kustomization?.spec).not.toHaveProperty('validation');
  expect(config.warnings).toHaveLength(1);
});

test('the values of a chart keep their nulls, which remove defaults of the chart', () => {
  const release = helmRelease('podinfo', 'charts', { values: { ingress: null, replicas: 2 }, timeout: null });
  const { objects } = effectiveConfig(withConfig({ objects: [helmRepository('charts'), release] }));
  expect(objects[1]?.spec).toEqual({
    interval: '10m',
    chart: { spec: { chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'charts' } } },
    values: { ingress: null, replicas: 2 },
  });
});

test('objects refer to sources of other layers', () => {
  const inputs = withConfig({ objects: [kustomize('apps', 'main-gitrepo')] });
  expect(problems({ ...inputs, ...withFluxConfig({ repositoryUrl: 'https://github.com/org/fleet' }) })).toEqual([]);
  expect(problems(inputs)).toHaveLength(1);
});

test('with multi-tenancy, objects of the configuration act as their controllers in the namespace of Flux', () => {
  const objects = [git('apps'), kustomize('apps', 'apps'), helmRepository('charts'), helmRelease('podinfo', 'charts')];
  const config = effectiveConfig(withConfig({ flux: { multiTenancy: true }, objects }));
  const accounts = config.objects.map(({ spec }) => (spec as { serviceAccountName?: string }).serviceAccountName);
  expect(accounts).toEqual([undefined, undefined, 'kustomize-controller', 'helm-controller']);
});

test('a similar name that only reports is a warning', () => {
  const alert = {
    kind: 'Alert',
    metadata: { name: 'all' },
    spec: { providerRef: { name: 'chat' }, eventSources: [{ kind: 'Kustomization', name: 'app' }] },
  };
  const provider = { kind: 'Provider', metadata: { name: 'chat' }, spec: { type: 'generic', address: 'https://a.b' } };
  const { warnings = [] } = effectiveConfig(
    withConfig({ objects: [git('apps'), kustomize('apps', 'apps'), alert, provider] }),
  );
  expect(warnings.map(issueText)).toEqual([
    'providerConfig: objects[2].spec.eventSources[0] names Kustomization "app" in namespace flux-system, which the configuration does not have; did you mean apps?',
  ]);
});

const repository = { repositoryUrl: 'https://git.example.com/fleet', repositoryBranch: 'main' };
const object = 'ConfigMap garden-foo/flux-config';
const entry = (name: string, path: string) => ({ template: { metadata: { name }, spec: { path } } });
const listed = (name: string, path = './apps') => kustomize(name, 'main-gitrepo', { path });
const source = { template: { kind: 'GitRepository', spec: { url: 'https://a.example/b', ref: { branch: 'main' } } } };

/** A project with config.yaml, and an override for `stage: dev`, of which the Shoot is. */
function inputs(data: Record<string, string>, config?: object, override?: object): ConfigInputs {
  const overrides = [{ selector: { matchLabels: { stage: 'dev' } }, config: override }];
  const fluxConfig = {
    namespace: 'garden-foo',
    data: {
      ...data,
      ...(config && { 'config.yaml': JSON.stringify(config) }),
      ...(override && { 'overrides.yaml': JSON.stringify(overrides) }),
    },
  };
  return { fluxConfig, shoot: { labels: { stage: 'dev' }, facts: { SHOOT_NAME: 'bar' } }, shootResources: [] };
}

const pathsOf = ({ kustomization, objects }: ReturnType<typeof effectiveConfig>) =>
  Object.fromEntries(
    [kustomization, ...objects].flatMap((one) =>
      one?.kind === 'Kustomization' ? [[one.metadata.name, (one.spec as { path: string }).path]] : [],
    ),
  );

describe('an override with lists', () => {
  const both = { sources: [source], kustomizations: [entry('root', './root'), entry('apps', './apps')] };

  it.each(
    Object.entries<[Record<string, string>, object | undefined, object, object]>({
      'replaces all objects of a lower layer, also by the same names': [
        repository,
        { objects: [listed('apps'), listed('infrastructure')] },
        { objects: [listed('apps', './dev')] },
        { 'main-ks': './', apps: './dev' },
      ],
      'removes all objects with an empty list': [
        repository,
        { objects: [listed('apps')] },
        { objects: [] },
        { 'main-ks': './' },
      ],
      'replaces the whole list of Kustomizations, with the first one as the root': [
        {},
        both,
        { kustomizations: [entry('apps', './dev')] },
        { apps: './dev' },
      ],
      'replaces the Kustomization of repositoryUrl by one of the same name': [
        repository,
        undefined,
        { kustomizations: [entry('main-ks', './dev'), entry('apps', './apps')] },
        { 'main-ks': './dev', apps: './apps' },
      ],
      'replaces the list by its short form': [{}, both, { kustomization: entry('root', './dev') }, { root: './dev' }],
      'changes only the root with a patch, which keeps the others': [
        {},
        both,
        { kustomization: { patch: { spec: { path: './dev' } } } },
        { root: './dev', apps: './apps' },
      ],
      'has variables of the Shoot in each entry': [
        repository,
        undefined,
        { objects: [listed('apps', `./\${SHOOT_NAME}/\${SHOOT_LABEL_stage}`)] },
        { 'main-ks': './', apps: './bar/dev' },
      ],
    }),
  )('%s', (_what, [data, config, override, paths]) => {
    expect(pathsOf(effectiveConfig(inputs(data, config, override)))).toEqual(paths);
  });

  it('cannot have a second object with the name of the Kustomization of repositoryUrl', () => {
    expect(problems(inputs(repository, undefined, { objects: [listed('main-ks')] }))).toEqual([
      `${object}: overrides.yaml[0].config.objects[0].metadata.name "main-ks" is already the name of the Kustomization that repositoryUrl creates in namespace flux-system; use another name`,
    ]);
  });
});

describe('the issues of a list', () => {
  it('are where the patch of a higher layer is', () => {
    const config = { sources: [source], kustomizations: [entry('root', './root'), entry('apps', './apps')] };
    const patch = {
      spec: { dependsOn: [{ name: 'ops' }], decryption: { provider: 'sops', secretRef: { name: 'age' } } },
    };
    const { dependsOn: _, ...valid } = patch.spec;
    const { warnings } = effectiveConfig(inputs({}, config, { kustomization: { patch: { spec: valid } } }));
    expect([...problems(inputs({}, config, { kustomization: { patch } })), ...(warnings ?? []).map(issueText)]).toEqual(
      [
        expect.stringContaining(
          'overrides.yaml[0].config.kustomization.patch.spec.dependsOn[0] names Kustomization "ops"',
        ),
        expect.stringContaining(
          'overrides.yaml[0].config.kustomization.patch.spec.decryption.secretRef names Secret "age"',
        ),
      ],
    );
  });

  const wrong = { template: { metadata: { name: 'base' }, spec: { path: './', interval: '5' } } };
  const waiting = { template: { metadata: { name: 'apps' }, spec: { path: './', dependsOn: [{ name: 'base' }] } } };

  it.each<[string, Record<string, string>, object, string]>([
    ['a root', {}, { sources: [source], kustomizations: [wrong, waiting] }, 'config.yaml.kustomizations[0]'],
    [
      'another entry',
      {},
      { sources: [source], kustomizations: [entry('root', './'), wrong, waiting] },
      'config.yaml.kustomizations[1]',
    ],
    [
      'an object',
      repository,
      {
        objects: [
          { kind: 'Kustomization', ...wrong.template },
          { kind: 'Kustomization', ...waiting.template },
        ],
      },
      'config.yaml.objects[0]',
    ],
    ['a key', { ...repository, repositoryInterval: '5' }, { objects: [listed('apps')] }, 'repositoryInterval'],
  ])('do not say that %s is missing which only has an issue', (_what, data, config, where) => {
    expect(problems(inputs(data, config))).toEqual([expect.stringContaining(`${object}: ${where}`)]);
  });
});

describe('flux-source', () => {
  const secretRef = { name: 'flux-source' };
  const copied = { origin: { type: 'flux-source' }, targetName: 'flux-source', namespace: 'flux-system' };
  const withSecret = { template: { ...source.template, spec: { ...source.template.spec, secretRef } } };

  it('is copied for the source of config.yaml that names it', () => {
    const config = effectiveConfig(inputs({}, { source: withSecret, kustomization: entry('root', './') }));
    expect(config.sourceSecret).toEqual(copied);
  });

  it('is copied for the first and for further sources of a list, once', () => {
    const second = { template: { ...git('apps', { secretRef }) } };
    const first = { sources: [withSecret, second], kustomizations: [entry('root', './')] };
    expect(effectiveConfig(inputs({}, first))).toMatchObject({ sourceSecret: copied, additionalSecrets: [] });
    const only = { sources: [source, second], kustomizations: [entry('root', './')] };
    expect(effectiveConfig(inputs({}, only)).additionalSecrets).toEqual([copied]);
  });

  it('is not for a Shoot to name', () => {
    const providerConfig = { source: withSecret, kustomization: entry('root', './') };
    expect(problems({ providerConfig, shootResources: [] })).toEqual([
      expect.stringContaining('providerConfig: source.secretResourceName is missing'),
    ]);
  });
});

describe('a label that names a shard', () => {
  const KEY = 'sharding.fluxcd.io/key';
  const labelled = (object: object, label: string, key = KEY) => {
    const { metadata } = object as { metadata?: object };
    return { ...object, metadata: { ...metadata, labels: { [key]: label } } };
  };
  const warningsOf = (flux: object, ...objects: object[]) =>
    (effectiveConfig(withConfig({ flux, objects })).warnings ?? []).map(issueText);
  const sharding = { shards: ['shard1', 'shard2'] };
  const at = `providerConfig: objects[0].metadata.labels.${KEY}`;

  it('has a warning if there is no such shard, with the name that is meant', () => {
    expect(warningsOf({ sharding }, labelled(git('fleet'), 'shrad1'), labelled(git('apps'), 'shard2'))).toEqual([
      `${at} "shrad1" is not one of sharding.shards, so no controller acts on GitRepository flux-system/fleet; did you mean shard1?`,
    ]);
    expect(warningsOf({ sharding }, labelled(helmRepository('charts'), 'west'))).toEqual([
      `${at} "west" is not one of sharding.shards, so no controller acts on HelmRepository flux-system/charts; use shard1 or shard2, or remove the label`,
    ]);
  });

  it('counts under the configured key', () => {
    const own = { sharding: { ...sharding, key: 'example.com/shard' } };
    expect(warningsOf(own, labelled(git('fleet'), 'west', 'example.com/shard'))).toEqual([
      expect.stringContaining('objects[0].metadata.labels.example.com/shard "west" is not one of sharding.shards'),
    ]);
    expect(warningsOf(own, labelled(git('fleet'), 'shard1', 'example.com/shard'))).toEqual([]);
  });

  it.each([{}, { sharding: { shards: [] } }])('has a warning without sharding, where it has no effect: %j', (flux) => {
    expect(warningsOf(flux, labelled(git('fleet'), 'shard1'))).toEqual([
      `${at} "shard1" names a shard, but flux.sharding has no shards, so the main controllers act on GitRepository flux-system/fleet; set flux.sharding.shards, or remove the label`,
    ]);
  });

  it('counts in templates and patches of the source and the root Kustomization', () => {
    const inputs = withTemplates(labelled(gitRepository(), 'west'), labelled(kustomization(), 'shard1'), {
      flux: { sharding },
    });
    const source = 'providerConfig: source.template.metadata.labels.sharding.fluxcd.io/key "west"';
    expect(effectiveConfig(inputs).warnings?.map(issueText)).toEqual([expect.stringContaining(source)]);
    const data = {
      repositoryUrl: 'https://github.com/org/fleet',
      'config.yaml': JSON.stringify({ flux: { sharding }, kustomization: { patch: labelled({}, 'west') } }),
    };
    const patch = `config.yaml.kustomization.patch.metadata.labels.${KEY} "west"`;
    expect(effectiveConfig(withFluxConfig(data)).warnings?.map(issueText)).toEqual([expect.stringContaining(patch)]);
  });

  it('means nothing on kinds that have no shards, or where patches set the selectors', () => {
    const provider = { kind: 'Provider', metadata: { name: 'chat' }, spec: { type: 'slack', channel: 'operations' } };
    expect(warningsOf({ sharding }, labelled(provider, 'west'))).toEqual([]);
    const patch = '[{ op: add, path: /spec/template/spec/containers/0/args/-, value: --watch-label-selector=a=b }]';
    expect(
      warningsOf({ patches: [{ target: { kind: 'Deployment' }, patch }] }, labelled(git('fleet'), 'west')),
    ).toEqual([]);
  });
});
