import { describe, expect, test } from 'vitest';
import { ConfigError } from '../errors.ts';
import { gitRepository, kustomization, ociRepository, withTemplates } from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import type { ConfigInputs } from './types.ts';

/** Returns only the paths of the issues. */
function paths(inputs: ConfigInputs): string[] {
  try {
    effectiveConfig(inputs);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.issues.map(({ path }) => path);
    throw error;
  }
}

type Case = [what: string, inputs: ConfigInputs, ...paths: string[]];

// Objects as Go marshals them, with empty values for absent fields.
const goMeta = { metadata: { creationTimestamp: null }, status: {} };
const git = (spec: object = {}, fields: object = {}) =>
  gitRepository({ interval: '0s', ...spec }, { ...goMeta, ...fields });
const oci = (spec: object = {}) =>
  ociRepository({ interval: '0s', ...spec }, { ...goMeta, apiVersion: 'source.toolkit.fluxcd.io/v1' });
const ks = (spec: object = {}, fields: object = {}) =>
  kustomization({ interval: '0s', prune: false, sourceRef: { kind: '', name: '' }, ...spec }, { ...goMeta, ...fields });
const config = (fields: object) => withTemplates(git(), ks(), fields);
const withResources = (inputs: ConfigInputs, ...resources: [name: string, kind: string][]): ConfigInputs => ({
  ...inputs,
  shootResources: resources.map(([name, kind]) => ({ name, apiVersion: 'v1', kind, resourceName: name })),
});
const credentials = (template: object, secretResourceName?: string) =>
  config({ source: { template, secretResourceName } });

const secretCases = (source: (spec: object) => object): Case[] => [
  ['neither secretRef nor secretResourceName', credentials(source({}))],
  ['both', withResources(credentials(source({ secretRef: { name: 'a' } }), 'my'), ['my', 'Secret'])],
  [
    'no such resource',
    withResources(credentials(source({ secretRef: { name: 'a' } }), 'my'), ['other', '']),
    'source.secretResourceName',
  ],
  ['only secretResourceName: the name has a default', withResources(credentials(source({}), 'my'), ['my', 'Secret'])],
  ['only secretRef', credentials(source({ secretRef: { name: 'a' } })), 'source.secretResourceName'],
];

/** The cases of the Go implementation, in its order. Where this product deliberately accepts more, the title says so. */
const cases: Record<string, Case[]> = {
  config: [
    ['source and Kustomization', withResources(config({}))],
    ['neither', withResources(config({ source: undefined, kustomization: undefined }))],
    ['only a Kustomization', config({ source: undefined }), 'source'],
    ['only a source', config({ kustomization: undefined }), 'kustomization'],
  ],
  flux: [
    ['a namespace', config({ flux: { namespace: 'my-flux-system' } })],
    ['no namespace', config({ flux: { namespace: 'this is definitely not a valid namespace' } }), 'flux.namespace'],
    [
      'required components among the extra ones, and an unknown one',
      config({
        flux: { components: ['kustomize-controller', 'foo-controller'], componentsExtra: ['source-controller'] },
      }),
    ],
    ['without a required component', config({ flux: { components: ['kustomize-controller'] } }), 'flux.components'],
  ],
  'source: type': [
    ['GitRepository v1', config({ source: { template: git() } })],
    ['OCIRepository v1', config({ source: { template: oci() } })],
    [
      'another version',
      config({ source: { template: git({}, { apiVersion: 'source.toolkit.fluxcd.io/v2' }) } }),
      'source.template.apiVersion',
    ],
    ['no kind', config({ source: { template: git({}, { kind: '' }) } }), 'source.template.kind'],
    ['no template', config({ source: {} }), 'source.template'],
    [
      'accepts more: a Bucket',
      config({ source: { template: { kind: 'Bucket', spec: { bucketName: 'a', endpoint: 'b' } } } }),
    ],
    [
      'accepts more: an API version of older releases',
      config({ source: { template: { ...oci(), apiVersion: 'source.toolkit.fluxcd.io/v1beta2' } } }),
    ],
  ],
  'source: GitRepository': [
    ['no ref', config({ source: { template: git({ ref: undefined }) } }), 'source.template.spec.ref'],
    ['an empty ref', config({ source: { template: git({ ref: {} }) } }), 'source.template.spec.ref'],
    ...[
      { branch: 'develop' },
      { tag: 'latest' },
      { semver: 'v1.0.0' },
      { name: 'refs/tags/v1.0.0' },
      { commit: '9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c' },
    ].map((ref): Case => [JSON.stringify(ref), config({ source: { template: git({ ref }) } })]),
    ['no URL', config({ source: { template: git({ url: '' }) } }), 'source.template.spec.url'],
    ...secretCases(git),
  ],
  'source: OCIRepository': [
    ['no ref', config({ source: { template: oci({ ref: undefined }) } }), 'source.template.spec.ref'],
    ['an empty ref', config({ source: { template: oci({ ref: {} }) } }), 'source.template.spec.ref'],
    ...[{ tag: 'latest' }, { semver: '>= 1.0.0' }, { digest: 'sha256:abcd1234' }].map(
      (ref): Case => [JSON.stringify(ref), config({ source: { template: oci({ ref }) } })],
    ),
    ['no URL', config({ source: { template: oci({ url: '' }) } }), 'source.template.spec.url'],
    [
      'another scheme',
      config({ source: { template: oci({ url: 'https://github.com/example/repo' }) } }),
      'source.template.spec.url',
    ],
    ...secretCases(oci),
  ],
  kustomization: [
    [
      'with API and kind',
      withTemplates(git(), ks({}, { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization' })),
    ],
    ['without API and kind', withTemplates(git(), ks({}, { apiVersion: '', kind: '' }))],
    [
      'another version',
      withTemplates(git(), ks({}, { apiVersion: 'kustomize.toolkit.fluxcd.io/v2', kind: 'Kustomization' })),
      'kustomization.template.apiVersion',
    ],
    [
      'another kind',
      withTemplates(git(), ks({}, { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'HelmRelease' })),
      'kustomization.template.kind',
    ],
    ['no path', withTemplates(git(), ks({ path: '' })), 'kustomization.template.spec.path'],
  ],
  additionalSecretResources: [
    ['none', config({ additionalSecretResources: null })],
    [
      'accepts more: a ConfigMap, which Go rejects',
      withResources(config({ additionalSecretResources: [{ name: 'vars' }] }), ['vars', 'ConfigMap']),
    ],
    [
      'all errors',
      withResources(
        config({
          additionalSecretResources: [
            { name: 'valid' },
            { name: 'wrong-kind' },
            { name: 'no-ref' },
            { name: 'valid', targetName: 'invalid-name-' },
          ],
        }),
        ['valid', 'Secret'],
        ['wrong-kind', 'Pod'],
      ),
      'additionalSecretResources[3].targetName',
      'additionalSecretResources[1].name',
      'additionalSecretResources[2].name',
    ],
  ],
};

describe.each(Object.entries(cases))('agrees with the Go implementation about %s', (_part, rows) => {
  test.each(rows)('%s', (_what, inputs, ...expected) => {
    expect(paths(inputs)).toEqual(expected);
  });
});
