import { describe, expect, test } from 'vitest';
import { customResourceIn, specIssues } from './custom-resources.ts';
import type { Release } from './release.ts';
import { fluxInstall, fluxOnly, object } from './testing.ts';

/** The first version is the stored one. */
function crd(kind: string, names: string[]) {
  const versions = names.map((name, index) => ({ name, storage: index === 0 })).reverse();
  const spec = { group: 'source.toolkit.fluxcd.io', names: { kind }, versions };
  return object('CustomResourceDefinition', kind, { spec });
}

const release: Release = {
  version: 'v2.5.1',
  digest: '',
  files: new Map([
    ['source-controller', [crd('GitRepository', ['v1', 'v1beta2']), crd('OCIRepository', ['v1beta2', 'v1beta1'])]],
    ['kustomize-controller', []],
  ]),
};

const withComponents = (...components: string[]) =>
  fluxOnly({
    flux: fluxInstall({ components }),
    origins: { 'flux.components': { object: 'ConfigMap garden-foo/flux-config', path: 'components' } },
  });

test.each([
  ['GitRepository', 'source.toolkit.fluxcd.io/v1'],
  ['OCIRepository', 'source.toolkit.fluxcd.io/v1beta2'],
])('returns the stored version of a %s: %s', (kind, apiVersion) => {
  const config = withComponents('kustomize-controller', 'source-controller');
  expect(customResourceIn(release, config, { kind, apiVersion: '' })).toMatchObject({ apiVersion });
});

test('names the component that a kind needs', () => {
  expect(() =>
    customResourceIn(release, withComponents('kustomize-controller'), { kind: 'GitRepository', apiVersion: '' }),
  ).toThrow(
    'ConfigMap garden-foo/flux-config: components lacks source-controller, which the configured GitRepository needs; add source-controller',
  );
});

test('rejects a kind that the release does not support', () => {
  expect(() =>
    customResourceIn(release, withComponents('source-controller'), { kind: 'Bucket', apiVersion: '' }),
  ).toThrow(
    'configuration: flux.version resolves to Flux v2.5.1, which does not support the configured Bucket; use another release',
  );
});

describe('a dependency with a kind', () => {
  const items = (...names: string[]) => ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  });
  const sentences = (own: string, kind: string, ...fields: string[]) => {
    const spec = { type: 'object', properties: { dependsOn: { type: 'array', items: items('name', ...fields) } } };
    const ofRelease = { release: 'v2.9.4', apiVersion: '', spec, hasConditions: true };
    const dependent = object(own, 'b', { spec: { dependsOn: [{ kind, name: 'a' }] } });
    const origins = { 'objects[0]': { object: 'providerConfig', path: 'objects[0]' } };
    return specIssues('objects[0]', ofRelease, dependent, origins).map(({ path, message }) => `${path} ${message}`);
  };

  test.each([
    [
      ['HelmRelease', 'Kustomization'],
      'cannot be Kustomization, because a HelmRelease can only wait for other HelmReleases; put this one into a folder of the repository, and let the Kustomization of that folder wait',
    ],
    [
      ['Kustomization', 'HelmRelease'],
      'cannot be HelmRelease, because a Kustomization can only wait for other Kustomizations; put the HelmRelease into the folder of a Kustomization with wait: true, and wait for that one',
    ],
    [
      ['Kustomization', 'GitRepository'],
      'cannot be GitRepository, because a Kustomization can only wait for other Kustomizations; remove it',
    ],
    [['Kustomization', 'Kustomization'], 'is not a field of dependsOn, which names only Kustomizations; remove it'],
  ] as const)('%j: %s', ([own, kind], message) => {
    expect(sentences(own, kind)).toEqual([`objects[0].spec.dependsOn[0].kind ${message}`]);
  });

  test('is valid where the CRD has it', () => {
    expect(sentences('Kustomization', 'Deployment', 'kind')).toEqual([]);
  });
});
