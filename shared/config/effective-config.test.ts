import { describe, expect, test } from 'vitest';
import {
  bucket,
  gitRepository,
  kustomization,
  ociRepository,
  withConfig,
  withFluxConfig,
  withTemplates,
} from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import { originOf } from './origins.ts';
import type { ConfigInputs } from './types.ts';

const OBJECT = 'ConfigMap garden-foo/flux-config';
const CORE = ['source-controller', 'kustomize-controller', 'helm-controller', 'notification-controller'];
const resource = (name: string, kind = 'Secret', apiVersion = 'v1') => ({
  name,
  apiVersion,
  kind,
  resourceName: `${name}-secret`,
});

describe('effectiveConfig without a source', () => {
  test.each<[string, ConfigInputs]>([
    ['no config at all', {}],
    ['an empty ConfigMap', withFluxConfig({})],
    ['a ConfigMap with empty values', withFluxConfig({ repositoryUrl: '', repositoryBranch: ' ', repositoryType: '' })],
    ['an empty providerConfig', { providerConfig: {} }],
    ['a providerConfig that is null', { providerConfig: null }],
    ['absent fields as Go programs write them', withConfig({ flux: { version: '', components: [] }, source: null })],
  ])('%s: installs only Flux, with the defaults of flux install', (_what, inputs) => {
    const { hasFluxConfig, origins, ...config } = effectiveConfig(inputs);
    expect(hasFluxConfig).toBe(inputs.fluxConfig !== undefined);
    expect(origins).toEqual({});
    expect(config).toEqual({
      flux: {
        registry: 'ghcr.io/fluxcd',
        namespace: 'flux-system',
        components: CORE,
        networkPolicy: true,
        watchAllNamespaces: true,
        logLevel: 'info',
        clusterDomain: 'cluster.local',
        tolerationKeys: [],
      },
      syncMode: 'Once',
      suspend: false,
      objects: [],
      additionalSecrets: [],
    });
  });

  test.each([
    ['v2.9.4', 'v2.9.4'],
    ['2.9.4', 'v2.9.4'],
    ['v2.0.0-rc.1', 'v2.0.0-rc.1'],
    ['2.9.x', '2.9.x'],
    ['v2.x', '2.x'],
    ['latest', undefined],
  ])('reads version %s as %s in both forms', (given, meant) => {
    expect(effectiveConfig(withFluxConfig({ fluxVersion: given })).flux.version).toBe(meant);
    expect(effectiveConfig(withConfig({ flux: { version: given } })).flux.version).toBe(meant);
  });

  test('takes the keys of tolerations in capitals', () => {
    for (const inputs of [
      withFluxConfig({ tolerationKeys: 'CriticalAddonsOnly, example.com/Team_A' }),
      withConfig({ flux: { tolerationKeys: ['CriticalAddonsOnly', 'example.com/Team_A'] } }),
    ]) {
      const { tolerationKeys } = effectiveConfig(inputs).flux;
      expect(tolerationKeys).toEqual(['CriticalAddonsOnly', 'example.com/Team_A']);
    }
  });

  test('reads lists in both forms, each entry once', () => {
    const texts = {
      components: 'source-controller,\n  kustomize-controller',
      componentsExtra: 'source-watcher source-controller',
      tolerationKeys: 'node-role.kubernetes.io/infra, gpu, gpu',
    };
    const lists = {
      components: ['source-controller', 'kustomize-controller'],
      componentsExtra: ['source-watcher', 'source-controller'],
      tolerationKeys: ['node-role.kubernetes.io/infra', 'gpu', 'gpu'],
    };
    for (const inputs of [withFluxConfig(texts), withConfig({ flux: lists })]) {
      expect(effectiveConfig(inputs).flux).toMatchObject({
        components: ['source-controller', 'kustomize-controller', 'source-watcher'],
        tolerationKeys: ['node-role.kubernetes.io/infra', 'gpu'],
      });
    }
  });
});

describe('effectiveConfig from flux-config', () => {
  const data = { repositoryUrl: 'ssh://git@github.com/org/fleet', repositoryBranch: 'main', repositoryType: 'private' };

  test('returns the objects of the first implementation, except for targetNamespace', () => {
    const config = effectiveConfig(withFluxConfig({ ...data, fluxVersion: 'v2.9.4' }));
    expect(config.source).toEqual({
      apiVersion: '',
      kind: 'GitRepository',
      metadata: { name: 'main-gitrepo', namespace: 'flux-system' },
      spec: {
        interval: '30s',
        ref: { branch: 'main' },
        secretRef: { name: 'flux-source' },
        url: 'ssh://git@github.com/org/fleet',
      },
    });
    expect(config.kustomization).toEqual({
      apiVersion: '',
      kind: 'Kustomization',
      metadata: { name: 'main-ks', namespace: 'flux-system' },
      spec: {
        interval: '5m',
        path: './',
        prune: true,
        sourceRef: { kind: 'GitRepository', name: 'main-gitrepo' },
      },
    });
    expect(config.sourceSecret).toEqual({
      origin: { type: 'flux-source' },
      targetName: 'flux-source',
      namespace: 'flux-system',
    });
    expect(config.hasFluxConfig).toBe(true);
    expect(config.origins['source.spec.url']).toEqual({ object: OBJECT, path: 'repositoryUrl' });
  });

  test('sets no Secret for a public repository, and no ref without a branch', () => {
    const config = effectiveConfig(withFluxConfig({ repositoryUrl: 'https://github.com/org/fleet' }));
    expect(config.source?.spec).toEqual({ interval: '30s', url: 'https://github.com/org/fleet' });
    expect(config.sourceSecret).toBeUndefined();
  });

  test('puts everything into the namespace of Flux', () => {
    const config = effectiveConfig(withFluxConfig({ ...data, namespace: 'gitops' }));
    expect(config.source?.metadata.namespace).toBe('gitops');
    expect(config.kustomization?.metadata.namespace).toBe('gitops');
    expect(config.sourceSecret?.namespace).toBe('gitops');
  });
});

describe('effectiveConfig from a providerConfig', () => {
  const gitRefs = [
    ...[{ branch: 'develop' }, { tag: 'latest' }, { semver: 'v1.0.0' }, { name: 'refs/tags/v1.0.0' }],
    { commit: '9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c' },
  ];

  test('fills in all defaults of source and Kustomization', () => {
    const config = effectiveConfig(withTemplates(gitRepository()));
    expect(config.source).toEqual({
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'GitRepository',
      metadata: { name: 'flux-system', namespace: 'flux-system' },
      spec: { interval: '1m', ref: { branch: 'main' }, url: 'https://github.com/org/fleet' },
    });
    expect(config.kustomization).toEqual({
      apiVersion: '',
      kind: 'Kustomization',
      metadata: { name: 'flux-system', namespace: 'flux-system' },
      spec: {
        interval: '1m',
        path: './clusters/production',
        prune: false,
        sourceRef: { kind: 'GitRepository', name: 'flux-system', namespace: 'flux-system' },
      },
    });
    expect(config.hasFluxConfig).toBe(false);
    expect(config.origins).toEqual({
      source: { object: 'providerConfig', path: 'source.template' },
      kustomization: { object: 'providerConfig', path: 'kustomization.template' },
    });
  });

  test('treats objects marshalled by Go programs like hand-written ones', () => {
    const metadata = { creationTimestamp: null };
    const marshalled = withTemplates(
      gitRepository({ interval: '0s', secretRef: { name: '' } }, { metadata, status: {} }),
      kustomization({ interval: '0s', prune: false, sourceRef: { kind: '', name: '' } }, { metadata, status: {} }),
      { flux: null, additionalSecretResources: null },
    );
    expect(effectiveConfig(marshalled)).toEqual(effectiveConfig(withTemplates(gitRepository())));
  });

  test.each([
    ['OCIRepository', ociRepository({}, { apiVersion: 'source.toolkit.fluxcd.io/v1beta2' })],
    ['Bucket', bucket()],
  ])('sets the sourceRef for a source of kind %s', (kind, template) => {
    const config = effectiveConfig(withTemplates(template));
    expect(config.source).toMatchObject({ kind, spec: { interval: '1m' } });
    expect(config.kustomization?.spec).toMatchObject({ sourceRef: { kind } });
  });

  test('passes on unknown fields unchanged', () => {
    const beyond = {
      verify: { mode: 'HEAD' },
      sparseCheckout: ['a', ''],
      proxySecretRef: { name: 'proxy' },
    };
    const ksBeyond = {
      postBuild: { substitute: { EMPTY: '' } },
      patches: [{ patch: '- { op: remove, path: /spec }', target: { kind: 'Service' } }],
      healthChecks: [],
    };
    const config = effectiveConfig(withTemplates(gitRepository(beyond), kustomization(ksBeyond)));
    expect(config.source?.spec).toMatchObject(beyond);
    expect(config.kustomization?.spec).toMatchObject(ksBeyond);
  });

  test('treats null as absent at any depth, like Go', () => {
    const beyond = {
      verify: { mode: 'HEAD', secretRef: null },
      include: [{ repository: { name: 'a' }, fromPath: null }],
    };
    const spec = effectiveConfig(withTemplates(gitRepository(beyond))).source?.spec;
    expect(spec).toMatchObject({ verify: { mode: 'HEAD' }, include: [{ repository: { name: 'a' } }] });
    expect(JSON.stringify(spec)).not.toContain('null');
  });

  test.each([
    ...gitRefs.map((ref) => [gitRepository({ ref }), ref]),
    ...[{ tag: 'latest' }, { semver: '>= 1.0.0' }, { digest: `sha256:${'ab'.repeat(32)}` }].map((ref) => [
      ociRepository({ ref }),
      ref,
    ]),
  ])('accepts the revision of %j', (template, ref) => {
    expect(effectiveConfig(withTemplates(template)).source?.spec).toMatchObject({ ref });
  });

  test('keeps names, labels, annotations and a sourceRef of the user', () => {
    const metadata = { name: 'a', labels: { tier: 'x' }, annotations: { note: 'y', 'Example.com/Team': 'z' } };
    const sourceRef = { kind: 'ExternalArtifact', name: 'b' };
    const config = effectiveConfig(
      withTemplates(gitRepository({}, { metadata }), kustomization({ sourceRef }, { metadata })),
    );
    expect(config.source?.metadata).toEqual({ ...metadata, namespace: 'flux-system' });
    expect(config.kustomization?.metadata).toEqual({ ...metadata, namespace: 'flux-system' });
    expect(config.kustomization?.spec).toMatchObject({ sourceRef: { ...sourceRef, namespace: 'flux-system' } });
  });

  test('copies the Secret into the namespace of the source', () => {
    const template = gitRepository({ secretRef: { name: 'fleet' } }, { metadata: { namespace: 'fleet' } });
    const config = effectiveConfig(
      withTemplates(template, kustomization(), { source: { template, secretResourceName: 'git' } }),
    );
    expect(config.sourceSecret).toMatchObject({ targetName: 'fleet', namespace: 'fleet' });
    expect(config.kustomization).toMatchObject({
      metadata: { namespace: 'flux-system' },
      spec: { sourceRef: { namespace: 'fleet' } },
    });
  });
});

describe('copies of additional Secrets', () => {
  const copies = (inputs: ConfigInputs) => effectiveConfig(inputs).additionalSecrets;
  const copy = (resourceName: string, targetName: string | undefined, namespace = 'flux-system') => ({
    origin: { type: 'resource', resourceName },
    targetName,
    namespace,
  });

  test('are in the namespace of Flux', () => {
    const entries = [{ name: 'a' }, { name: 'b', targetName: 'bee' }, { name: 'b' }];
    const inputs = withConfig({ flux: { namespace: 'gitops' }, additionalSecretResources: entries });
    expect(copies(inputs)).toEqual([
      copy('a', undefined, 'gitops'),
      copy('b', 'bee', 'gitops'),
      copy('b', undefined, 'gitops'),
    ]);
  });

  test('are also in the namespace of a source or Kustomization that refers to them, as to their kind', () => {
    const inNamespace = (namespace: string) => ({ metadata: { namespace } });
    const spec = {
      decryption: { provider: 'sops', secretRef: { name: 'age-secret' } },
      postBuild: {
        substituteFrom: [
          { kind: 'Secret', name: 'v' },
          ...['other', 'vars', 'token'].map((name) => ({ kind: 'ConfigMap', name })),
        ],
      },
      kubeConfig: { configMapRef: { name: 'access' } },
      patches: [{ patch: 'kind: Secret\nmetadata: { name: proxy }', target: { kind: 'Secret', name: 'proxy' } }],
    };
    const inputs = {
      ...withTemplates(
        gitRepository({ proxySecretRef: { name: 'proxy' } }, inNamespace('fleet')),
        kustomization(spec, inNamespace('apps')),
        {
          additionalSecretResources: [
            { name: 'age' },
            ...['proxy', 'v', 'other', 'vars', 'access', 'token'].map((name) => ({ name, targetName: name })),
          ],
        },
      ),
      shootResources: [
        ...['age', 'proxy', 'v', 'other'].map((name) => resource(name)),
        ...['vars', 'access'].map((name) => resource(name, 'ConfigMap')),
        resource('token', 'WorkloadIdentity', 'security.gardener.cloud/v1alpha1'),
      ],
    };
    const elsewhere = copies(inputs).filter(({ namespace }) => namespace !== 'flux-system');
    expect(elsewhere).toEqual([
      copy('age', undefined, 'apps'),
      copy('proxy', 'proxy', 'fleet'),
      ...['v', 'vars', 'access'].map((name) => copy(name, name, 'apps')),
    ]);
    expect(copies(inputs)).toHaveLength(7 + elsewhere.length);
  });

  test('may have one name for a Secret and a ConfigMap', () => {
    const entries = [
      { name: 'a', targetName: 'x' },
      { name: 'b', targetName: 'x' },
      { name: 'a', targetName: 'shoot-info' },
    ];
    const inputs = {
      ...withConfig({ additionalSecretResources: entries }),
      shootResources: [resource('a'), resource('b', 'ConfigMap')],
    };
    expect(copies(inputs)).toEqual([copy('a', 'x'), copy('b', 'x'), copy('a', 'shoot-info')]);
  });
});

describe('merging of layers', () => {
  const data = {
    fluxVersion: '2.8.x',
    registry: 'mirror.example.com/fluxcd',
    syncMode: 'Reconcile',
    suspend: 'true',
    repositoryUrl: 'ssh://git@github.com/org/fleet',
    repositoryType: 'private',
  };
  const both = (fields: object): ConfigInputs => ({ ...withFluxConfig(data), ...withConfig(fields) });

  test('merges everything else field by field', () => {
    const config = effectiveConfig(both({ flux: { version: 'v2.9.4' }, suspend: false }));
    expect(config).toMatchObject({
      flux: { version: 'v2.9.4', registry: 'mirror.example.com/fluxcd', namespace: 'flux-system' },
      syncMode: 'Reconcile',
      suspend: false,
    });
    expect(config.hasFluxConfig).toBe(true);
    expect(config.origins).toMatchObject({
      'flux.version': { object: 'providerConfig', path: 'flux.version' },
      'flux.registry': { object: OBJECT, path: 'registry' },
      syncMode: { object: OBJECT, path: 'syncMode' },
      suspend: { object: 'providerConfig', path: 'suspend' },
      'source.spec.url': { object: OBJECT, path: 'repositoryUrl' },
    });
  });

  test('lets latest in the providerConfig override a version in the ConfigMap', () => {
    expect(effectiveConfig(both({ flux: { version: 'latest' } })).flux.version).toBeUndefined();
  });

  test('takes components and componentsExtra each from the layer that sets them', () => {
    const inputs = {
      ...withFluxConfig({ componentsExtra: 'source-watcher' }),
      ...withConfig({ flux: { components: ['source-controller', 'kustomize-controller'] } }),
    };
    expect(effectiveConfig(inputs).flux.components).toEqual([
      'source-controller',
      'kustomize-controller',
      'source-watcher',
    ]);
  });

  test('connects a Kustomization of the providerConfig to the source of the ConfigMap', () => {
    const config = effectiveConfig(both({ kustomization: { template: kustomization() } }));
    expect(config.source?.metadata.name).toBe('main-gitrepo');
    expect(config.kustomization).toMatchObject({
      metadata: { name: 'flux-system' },
      spec: { sourceRef: { kind: 'GitRepository', name: 'main-gitrepo', namespace: 'flux-system' } },
    });
    expect(config.sourceSecret?.origin).toEqual({ type: 'flux-source' });
  });

  test('connects a source of the providerConfig to the Kustomization of the ConfigMap, without flux-source', () => {
    const template = ociRepository({}, { metadata: { name: 'fleet', namespace: 'fleet' } });
    const config = effectiveConfig(both({ source: { template } }));
    expect(config.kustomization).toMatchObject({
      metadata: { name: 'main-ks' },
      spec: { sourceRef: { kind: 'OCIRepository', name: 'fleet', namespace: 'fleet' } },
    });
    expect(config.sourceSecret).toBeUndefined();
  });
});

function located(field: string, inputs: ConfigInputs): string {
  const { object, path } = originOf(effectiveConfig(inputs).origins, field);
  return `${object}: ${path}`;
}

const flux = (options: object): ConfigInputs => ({ providerConfig: { flux: options } });
const repository = withFluxConfig({ repositoryUrl: 'https://example.com/fleet', repositoryInterval: '2m' });

test.each<[string, ConfigInputs, string]>([
  ['flux.version', flux({ version: 'v2.9.4' }), 'providerConfig: flux.version'],
  ['flux.version', withFluxConfig({ fluxVersion: 'v2.9.4' }), `${OBJECT}: fluxVersion`],
  ['flux.namespace', withFluxConfig({ namespace: 'a' }), `${OBJECT}: namespace`],
  ['flux.components', flux({ componentsExtra: ['a'] }), 'providerConfig: flux.componentsExtra'],
  ['flux.components[c]', flux({ componentsExtra: ['a', 'b', 'c'] }), 'providerConfig: flux.componentsExtra[2]'],
  [
    'flux.components[b]',
    flux({ components: ['a', 'b', 'b'], componentsExtra: ['c', 'b'] }),
    'providerConfig: flux.components[1]',
  ],
  [
    'flux.components[b]',
    { ...flux({ components: ['a'] }), ...withFluxConfig({ componentsExtra: 'c, b' }) },
    `${OBJECT}: componentsExtra`,
  ],
  [
    'flux.components[b]',
    { ...flux({ componentsExtra: ['b'] }), ...withFluxConfig({ components: 'a, b' }) },
    'providerConfig: flux.componentsExtra[0]',
  ],
  [
    'flux.components[b]',
    { ...flux({ components: ['a'] }), ...withFluxConfig({ components: 'b', componentsExtra: 'b' }) },
    `${OBJECT}: componentsExtra`,
  ],
  ['flux.components[b]', flux({ components: ['a'] }), 'configuration: flux.components'],
  ['flux.version', { ...flux({ version: '' }), ...withFluxConfig({ fluxVersion: '2.x' }) }, `${OBJECT}: fluxVersion`],
  ['flux.version', {}, 'configuration: flux.version'],
  [
    'source.spec.include[0].repository',
    withTemplates(gitRepository()),
    'providerConfig: source.template.spec.include[0].repository',
  ],
  [
    'kustomization.spec.dependsOn[0].name',
    {
      ...repository,
      providerConfig: { kustomization: { patch: { spec: { dependsOn: [{ name: 'a' }] } } } },
    },
    'providerConfig: kustomization.patch.spec.dependsOn[0].name',
  ],
  ['source.spec.interval', repository, `${OBJECT}: repositoryInterval`],
  ['kustomization.spec.path', repository, 'configuration: kustomization.spec.path'],
])('locates %s of %j at %s', (field, inputs, where) => {
  expect(located(field, inputs)).toBe(where);
});

test('names the providerConfig for its source, and the ConfigMap still for its Kustomization', () => {
  const keys = { repositoryUrl: 'https://example.com/fleet', repositoryPath: './a' };
  const { source } = withTemplates(gitRepository(), kustomization()).providerConfig as { source: object };
  const { origins } = effectiveConfig({ ...withFluxConfig(keys), providerConfig: { source } });
  expect(origins).toEqual({
    'kustomization.spec.path': { object: OBJECT, path: 'repositoryPath' },
    source: { object: 'providerConfig', path: 'source.template' },
  });
});
