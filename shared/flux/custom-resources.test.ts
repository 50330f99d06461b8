import { expect, test } from 'vitest';
import { customResourceIn } from './custom-resources.ts';
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
