import { describe, expect, test } from 'vitest';
import { issueText } from '../../errors.ts';
import { gitRepository, kustomization, problems, withFluxConfig } from '../config.fixtures.ts';
import { effectiveConfig } from '../effective-config.ts';
import { git, helmRelease, helmRepository, kustomize, oldPipeline, withLists } from './testing.ts';

const named = (name: string) => ({ metadata: { name } });
const refs = (objects: { kind: string; metadata: { name: string; namespace?: string | undefined } }[]) =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);

describe('lists of sources and Kustomizations', () => {
  test('the first entries are the root pair, with the defaults of the short form', () => {
    const lists = { sources: [{ template: gitRepository() }], kustomizations: [{ template: kustomization() }] };
    const short = { source: { template: gitRepository() }, kustomization: { template: kustomization() } };
    const { origins: _, ...fromLists } = effectiveConfig(withLists(lists));
    const { origins: __, ...fromShort } = effectiveConfig(withLists(short));
    expect(fromLists).toEqual(fromShort);
  });

  test('the others are objects, sources first, each with its own place', () => {
    const config = effectiveConfig(
      withLists({
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

  test('each list is taken as a whole from the highest layer that has it', () => {
    const defaults = {
      sources: [{ template: gitRepository() }, { template: gitRepository({}, named('apps')) }],
      kustomizations: [{ template: kustomization() }],
      objects: [git('tools')],
    };
    const own = { kustomizations: [{ template: kustomization({ path: './own' }) }], objects: [git('own')] };
    const { source, kustomization: root, objects } = effectiveConfig(withLists(own, { landscape: { defaults } }));
    expect(source?.spec).toMatchObject({ url: 'https://github.com/org/fleet' });
    expect(root?.spec).toMatchObject({ path: './own' });
    expect(refs(objects)).toEqual(['GitRepository flux-system/apps', 'GitRepository flux-system/own']);
    const none = effectiveConfig(withLists({ objects: [] }, { landscape: { defaults } }));
    expect(refs(none.objects)).toEqual(['GitRepository flux-system/apps']);
  });

  test('credentials of each source are copied beside it', () => {
    const shootResources = ['fleet', 'apps'].map((name) => ({
      ...{ name, apiVersion: 'v1', kind: 'Secret', resourceName: `${name}-credentials` },
    }));
    const inNamespace = { metadata: { name: 'apps', namespace: 'apps' } };
    const { sourceSecret, additionalSecrets } = effectiveConfig(
      withLists(
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

test('a pipeline for v1beta1 keeps its order, and what the API dropped is left out with a warning', () => {
  const { objects, warnings = [] } = effectiveConfig(withLists({ objects: oldPipeline }));
  expect(refs(objects)).toEqual([
    'GitRepository default/mesh',
    'GitRepository default/shop',
    'Kustomization default/mesh',
    'Kustomization default/shop-backend',
    'Kustomization default/shop-frontend',
  ]);
  expect(objects[2]?.spec).toMatchObject({ prune: false, timeout: '2m', healthChecks: [{ name: 'mesh-control' }] });
  for (const { spec } of objects) {
    expect(spec).not.toHaveProperty('validation');
    expect(spec).not.toHaveProperty('gitImplementation');
  }
  expect(warnings.map(issueText)).toEqual([
    'providerConfig: objects[0].spec.gitImplementation is left out, because the API has dropped it since "source.toolkit.fluxcd.io/v1beta1": there is only one implementation; remove it',
    ...[2, 3, 4].map(
      (index) =>
        `providerConfig: objects[${index}].spec.validation is left out, because the API has dropped it since "kustomize.toolkit.fluxcd.io/v1beta1": every object is validated by the API server; remove it`,
    ),
  ]);
});

test('the short forms and lists are read alike from v1beta1', () => {
  const apiVersion = 'kustomize.toolkit.fluxcd.io/v1beta1';
  const template = kustomization({ validation: 'client' }, { apiVersion });
  const source = { template: gitRepository() };
  const short = effectiveConfig(withLists({ source, kustomization: { template } }));
  const lists = effectiveConfig(withLists({ sources: [source], kustomizations: [{ template }] }));
  for (const config of [short, lists]) {
    expect(config.kustomization?.spec).not.toHaveProperty('validation');
    expect(config.warnings).toHaveLength(1);
  }
});

test('the values of a chart keep their nulls, which remove defaults of the chart', () => {
  const release = helmRelease('podinfo', 'charts', { values: { ingress: null, replicas: 2 }, timeout: null });
  const { objects } = effectiveConfig(withLists({ objects: [helmRepository('charts'), release] }));
  expect(objects[1]?.spec).toEqual({
    interval: '10m',
    chart: { spec: { chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'charts' } } },
    values: { ingress: null, replicas: 2 },
  });
});

test('objects refer to sources of other layers', () => {
  const inputs = withLists({ objects: [kustomize('apps', 'main-gitrepo')] });
  expect(problems({ ...inputs, ...withFluxConfig({ repositoryUrl: 'https://github.com/org/fleet' }) })).toEqual([]);
  expect(problems(inputs)).toHaveLength(1);
});

test('with multi-tenancy, objects of the configuration act as their controllers in the namespace of Flux', () => {
  const objects = [git('apps'), kustomize('apps', 'apps'), helmRepository('charts'), helmRelease('podinfo', 'charts')];
  const config = effectiveConfig(withLists({ flux: { multiTenancy: true }, objects }));
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
    withLists({ objects: [git('apps'), kustomize('apps', 'apps'), alert, provider] }),
  );
  expect(warnings.map(issueText)).toEqual([
    'providerConfig: objects[2].spec.eventSources[0] names Kustomization "app" in namespace flux-system, which the configuration does not have; did you mean apps?',
  ]);
});
