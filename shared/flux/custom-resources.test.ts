import { expect, test } from 'vitest';
import { customResourceIn } from './custom-resources.ts';
import type { Release } from './release.ts';
import { fluxInstall, fluxOnly, object } from './testing.ts';

function crd(kind: string, versions: { name: string; storage: boolean }[]) {
  const spec = { group: 'source.toolkit.fluxcd.io', names: { kind }, versions };
  return object('CustomResourceDefinition', kind, { spec });
}

const release: Release = {
  version: 'v2.5.1',
  digest: '',
  files: new Map([
    [
      'source-controller',
      [
        crd('GitRepository', [
          { name: 'v1', storage: true },
          { name: 'v1beta2', storage: false },
        ]),
        crd('OCIRepository', [
          { name: 'v1beta1', storage: false },
          { name: 'v1beta2', storage: true },
        ]),
      ],
    ],
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
  expect(
    customResourceIn(release, withComponents('kustomize-controller', 'source-controller'), { kind, apiVersion: '' }),
  ).toMatchObject({
    apiVersion,
  });
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
