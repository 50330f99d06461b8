import { expect, test } from 'vitest';
import {
  git,
  gitRepository,
  helmRelease,
  helmRepository,
  kustomization,
  kustomize,
  problems,
  withConfig,
} from '../config.fixtures.ts';
import { limits, MOST_ISSUES_OF_A_PART } from '../limits.ts';
import type { ConfigInputs } from '../types.ts';

const objects = (...list: object[]) => withConfig({ objects: list });
const apps = [git('apps'), kustomize('apps', 'apps')];
const secretResource = { name: 'key', apiVersion: 'v1', kind: 'Secret', resourceName: 'age-key' };
const configMapResource = { ...secretResource, name: 'variables', kind: 'ConfigMap', resourceName: 'variables' };
const withResources = (lists: object) => withConfig(lists, { shootResources: [secretResource, configMapResource] });
const alert = (spec: object) => ({ kind: 'Alert', metadata: { name: 'errors' }, spec });

/** The only sentence about a wrong configuration, or its begin. */
const bad: Record<string, ConfigInputs> = {
  'kustomizations cannot be combined with kustomization; move kustomization into the list': withConfig({
    source: { template: gitRepository() },
    kustomization: { template: kustomization() },
    kustomizations: [{ template: kustomization() }],
  }),
  'sources[1].template.metadata.name is missing; set it, because only the first entry has a default': withConfig({
    sources: [{ template: gitRepository() }, { template: gitRepository() }],
    kustomizations: [{ template: kustomization() }],
  }),
  'objects[0].spec.secretRef is missing, but Flux needs a key to read over SSH; name the Secret that holds identity and known_hosts':
    objects(git('apps', { url: 'ssh://git@git.example.com/apps' }), kustomize('apps', 'apps')),
  'objects must be a list, not an object; start each entry with "- "': withConfig({ objects: git('apps') }),
  'objects[0].kind "constructor" is not a kind of Flux; use one of GitRepository, ': objects({
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: 'constructor',
    metadata: { name: 'a' },
    spec: {},
  }),
  'objects[0].kind is missing; use one of GitRepository, ': objects({ metadata: { name: 'a' }, spec: {} }),
  'objects[0].apiVersion "example.com/v1" is not an API version of GitRepository; use source.toolkit.fluxcd.io/v1 or omit it':
    objects({ ...git('a'), apiVersion: 'example.com/v1' }),
  'objects[0].metadata.name is missing; set it': objects({ kind: 'Provider', spec: {} }),
  'objects[0].metadata.annotations has the key "resources.gardener.cloud/ignore", which is reserved for Gardener; remove it':
    objects({ ...git('a'), metadata: { name: 'a', annotations: { 'resources.gardener.cloud/ignore': 'true' } } }),
  'objects[1].metadata.name "apps" is already the name of the GitRepository at objects[0] in namespace flux-system; use another name':
    objects(git('apps'), git('apps')),
  'objects[0].spec.sourceRef names GitRepository "fleet" in namespace flux-system, which the configuration does not have; add it to the configuration, or move this object to the repository that has it':
    objects(kustomize('apps', 'fleet')),
  'objects[1].spec.sourceRef names GitRepository "apps" in namespace flux-system, which the configuration does not have; did you mean namespace team?':
    objects({ ...git('apps'), metadata: { name: 'apps', namespace: 'team' } }, kustomize('apps', 'apps')),
  'objects[1].spec.chart.spec.sourceRef names HelmRepository "charts" in namespace flux-system, which the configuration does not have; did you mean kind GitRepository?':
    objects(git('charts'), helmRelease('podinfo', 'charts')),
  'objects[2].spec.dependsOn[0] names Kustomization "aps" in namespace flux-system, which the configuration does not have; did you mean apps?':
    objects(...apps, kustomize('tests', 'apps', { dependsOn: [{ name: 'aps' }] })),
  'objects[1].spec.dependsOn is circular: it waits for flux-system/b, which waits for flux-system/c, which waits for flux-system/a; remove one of these dependencies':
    objects(
      git('apps'),
      kustomize('a', 'apps', { dependsOn: [{ name: 'b' }] }),
      kustomize('b', 'apps', { dependsOn: [{ name: 'c' }] }),
      kustomize('c', 'apps', { dependsOn: [{ name: 'a' }] }),
    ),
  'objects[0].spec.chartRef names OCIRepository "chart" in namespace flux-system, ': objects({
    kind: 'HelmRelease',
    metadata: { name: 'a' },
    spec: { chartRef: { kind: 'OCIRepository', name: 'chart' } },
  }),
  'objects[0].spec.providerRef names Provider "chat" in namespace flux-system, ': objects(
    alert({ providerRef: { name: 'chat' } }),
  ),
  'objects[0].spec.imageRepositoryRef names ImageRepository "app" in namespace flux-system, ': objects({
    kind: 'ImagePolicy',
    metadata: { name: 'a' },
    spec: { imageRepositoryRef: { name: 'app' } },
  }),
  'objects[1].spec.patches[0].patch is not YAML: ': objects(
    git('apps'),
    kustomize('apps', 'apps', { patches: [{ patch: 'a: [b' }] }),
  ),
  'objects[1].spec.patches[1].patch is neither an object nor a list of operations; ': objects(
    git('apps'),
    kustomize('apps', 'apps', {
      patches: [
        { patch: '# none\nkind: A\nmetadata: { name: a }\nspec:\n  a: $' + '{b}\n---\nkind: BList\n---\n# none' },
        { patch: 'replicas' },
        { patch: '[{"op": "remove", "path": "/spec"}]', target: {} },
        { patch: '# no JSON\n[{ op: remove, path: spec }]', target: {} },
        { patch: 'x: &x { name: a }\nkind: A\nmetadata: *x' },
      ],
    }),
  ),
  'objects[1].spec.postRenderers[0].kustomize.patches[0].patch is neither an object nor a list of operations; use one of these':
    objects(
      helmRepository('charts'),
      helmRelease('podinfo', 'charts', { postRenderers: [{ kustomize: { patches: [{ patch: 'text' }] } }] }),
    ),
  'objects[1].spec.values must be an object, because Flux ignores all other values; write them below the key, without | and quotes':
    objects(helmRepository('charts'), helmRelease('podinfo', 'charts', { values: 'replicas: 2\n' })),
  'existingSecrets[0] "a/b/c" has more than one slash; use namespace/name': withConfig({
    existingSecrets: ['a/b/c'],
  }),
  ' has 119 sources, Kustomizations and other objects for Flux; use at most 100 objects': withConfig({
    sources: Array.from({ length: 60 }, (_, i) => ({ template: gitRepository({}, { metadata: { name: `b${i}` } }) })),
    kustomizations: [{ template: kustomization() }],
    objects: Array.from({ length: 60 }, (_, i) => git(`a${i}`)),
  }),
  'sources[1].template.spec.secretRef.name "age-key" in namespace flux-system is already taken by additionalSecretResources[0]; use another name':
    withResources({
      sources: [
        { template: gitRepository(), secretResourceName: 'key' },
        {
          template: gitRepository({ secretRef: { name: 'age-key' } }, { metadata: { name: 'b' } }),
          secretResourceName: 'key',
        },
      ],
      kustomizations: [{ template: kustomization() }],
      additionalSecretResources: [{ name: 'key' }],
    }),
  'sources[1].secretResourceName "kay" is not an entry of the Shoot\'s spec.resources (it has key, variables); add the entry or use another one':
    withResources({
      sources: [
        { template: gitRepository() },
        { template: gitRepository({}, { metadata: { name: 'b' } }), secretResourceName: 'kay' },
      ],
      kustomizations: [{ template: kustomization() }],
    }),
  'objects[0].metadata.namespace must be flux-system, because watchAllNamespaces is false; omit it or set watchAllNamespaces to true':
    withConfig({
      flux: { watchAllNamespaces: false },
      objects: [{ ...git('a'), metadata: { name: 'a', namespace: 'team' } }],
    }),
  'objects[1].spec.serviceAccountName is missing, which multiTenancy requires outside of flux-system; name a ServiceAccount that may apply the objects':
    withConfig({
      flux: { multiTenancy: true },
      objects: [
        { ...git('a'), metadata: { name: 'a', namespace: 'team' } },
        { ...kustomize('apps', 'a'), metadata: { name: 'apps', namespace: 'team' } },
      ],
    }),
};

test.each(Object.entries(bad))('one sentence: %s', (sentence, inputs) => {
  const found = problems(inputs);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(`providerConfig${sentence.startsWith(' ') ? '' : ': '}${sentence}`);
});

const good: Record<string, ConfigInputs> = {
  'a Secret that is said to exist': withConfig({
    objects: [git('apps', { secretRef: { name: 'token' } })],
    existingSecrets: ['token'],
  }),
  'a Secret that is said to exist in another namespace': withConfig({
    objects: [{ ...git('a', { secretRef: { name: 'token' } }), metadata: { name: 'a', namespace: 'team' } }],
    existingSecrets: ['team/token'],
  }),
  'variables that may be missing': objects(
    ...apps.slice(0, 1),
    kustomize('apps', 'apps', { postBuild: { substituteFrom: [{ kind: 'Secret', name: 'x', optional: true }] } }),
  ),
  'the facts of the Shoot': objects(
    git('apps'),
    kustomize('apps', 'apps', { postBuild: { substituteFrom: [{ kind: 'ConfigMap', name: 'shoot-facts' }] } }),
  ),
  'a copy for the namespace of an object': withResources({
    objects: [{ ...git('a', { secretRef: { name: 'age-key' } }), metadata: { name: 'a', namespace: 'team' } }],
    additionalSecretResources: [{ name: 'key' }],
  }),
  'a name in the values of a chart': objects(
    helmRepository('charts'),
    helmRelease('podinfo', 'charts', { values: { secretRef: { name: 'own' } } }),
  ),
  'the artifact of a generator': objects(
    git('apps'),
    {
      kind: 'ArtifactGenerator',
      metadata: { name: 'g' },
      spec: {
        sources: [{ alias: 'a', kind: 'GitRepository', name: 'apps' }],
        artifacts: [{ name: 'part', copy: [] }],
      },
    },
    kustomize('part', 'x', { sourceRef: { kind: 'ExternalArtifact', name: 'part' } }),
  ),
  'events of objects from a repository': objects(
    { kind: 'Provider', metadata: { name: 'chat' }, spec: { type: 'slack' } },
    alert({
      providerRef: { name: 'chat' },
      eventSources: [
        { kind: 'Kustomization', name: '*' },
        { kind: 'HelmRelease', name: 'elsewhere' },
      ],
    }),
  ),
  'a kind of a newer Flux': objects({
    apiVersion: 'new.toolkit.fluxcd.io/v1',
    kind: 'Novelty',
    metadata: { name: 'a' },
    spec: {},
  }),
  'a Secret of the short form that is only in the shoot': withConfig({
    source: { template: gitRepository() },
    kustomization: { template: kustomization({ decryption: { provider: 'sops', secretRef: { name: 'own' } } }) },
  }),
};

test.each(Object.entries(good))('%s is valid', (_, inputs) => {
  expect(problems(inputs)).toEqual([]);
});

const count = limits.objects.most;
const circle = Array.from({ length: count - 1 }, (_, index) =>
  kustomize(`k${index}`, 'a', { dependsOn: [{ name: `k${(index + 1) % (count - 1)}` }] }),
);
const typos = Array.from({ length: count }, (_, index) =>
  kustomize(`k${index}`, 'b', { dependsOn: Array.from({ length: 15 }, (_, other) => ({ name: `x${other}` })) }),
);

test('a circle through all objects gives one sentence', () => {
  const found = problems(withConfig({ objects: [git('a'), ...circle] }));
  expect(found).toHaveLength(1);
  expect(found[0]).toContain('objects[1].spec.dependsOn is circular: it waits for flux-system/k1, which waits for ');
});

test('thousands of wrong references give few sentences', () => {
  expect(problems(withConfig({ objects: typos }))).toHaveLength(MOST_ISSUES_OF_A_PART);
});

test('a kind and a namespace that are texts are quoted in part, on one line', () => {
  const text = 'https://user:hunter2@host/\n'.repeat(2000);
  const sourceRef = { kind: text, namespace: text, name: 'a' };
  const object = { kind: 'HelmChart', metadata: { name: 'c' }, spec: { sourceRef } };
  for (const flux of [{}, { multiTenancy: true }]) {
    const found = problems(withConfig({ flux, objects: [object] })).join('; ');
    expect(found).toMatch(/objects\[0\]\.spec\.sourceRef names (an object|"https)/);
    expect(found).not.toMatch(/hunter2|\n/);
    expect(found.length).toBeLessThan(1200);
  }
});

const lacking = 'lacks kind or metadata.name; add them (with a target, any values will do)';
test.each([
  ['kind: [', 'is not YAML: '],
  ['', 'is empty; write an object, or a list of operations'],
  ['- { op: ad, path: /spec }', 'has a wrong operation 0: op must be one of add, remove, replace, move'],
  ['- { op: add, value: 1 }', 'has a wrong operation 0: path must be a path such as /spec/replicas'],
  ['- { op: remove, path: /a }\n- { op: move, path: /a }', 'has a wrong operation 1: from must be a path'],
  ['- text', 'has a wrong operation 0: op must be one of'],
  ['[{ op: remove, path: /spec }]', 'begins with [ but is not JSON, so kustomize cannot read it; begin each operation'],
  ['kind: Service\nspec: {}', lacking],
  ['metadata: { name: a }', lacking],
  ['{ op: remove, path: /spec }', lacking],
])('kustomize can never use the patch %j of a Kustomization', (patch, expected) => {
  const template = kustomization({ patches: [{ patch, target: { kind: 'Service' } }] });
  const found = problems(withConfig({ source: { template: gitRepository() }, kustomization: { template } }));
  expect(found).toEqual([expect.stringContaining(`kustomization.template.spec.patches[0].patch ${expected}`)]);
});

test('a list of operations in a Kustomization needs a target', () => {
  const template = kustomization({ patches: [{ patch: '- { op: remove, path: /spec }' }] });
  const found = problems(withConfig({ source: { template: gitRepository() }, kustomization: { template } }));
  expect(found).toEqual([expect.stringContaining('patch is a list of operations without a target; add a target')]);
});
