import { expect, test } from 'vitest';
import { gitRepository, kustomization, withFluxConfig, withTemplates } from '../../../shared/config/config.fixtures.ts';
import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import { canonicalJson, configHash } from './config-hash.ts';

test('is 16 hexadecimal digits', () => {
  expect(configHash(effectiveConfig({}))).toMatch(/^[0-9a-f]{16}$/);
});

test('ignores the order of keys but not of lists', () => {
  expect(canonicalJson({ b: 1, a: { d: [1, 2], c: undefined } })).toBe(canonicalJson({ a: { d: [1, 2] }, b: 1 }));
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

test('ignores fields that change no object in the Shoot', () => {
  expect(configHash(effectiveConfig(withFluxConfig({})))).toBe(configHash(effectiveConfig({})));
  for (const same of [{ syncMode: 'Reconcile' }, { deletionPolicy: 'Uninstall' }]) {
    expect(configHash(effectiveConfig(withFluxConfig(same)))).toBe(configHash(effectiveConfig({})));
  }
});

const flux = { version: 'v2.9.4', componentsExtra: ['source-watcher'] };
const more = { flux, suspend: true, additionalSecretResources: [{ name: 'a' }] };
const keys = {
  ...{ repositoryUrl: 'ssh://git@github.com/org/fleet', repositoryType: 'private', repositoryBranch: 'main' },
  ...{ fluxVersion: '2.9.x', componentsExtra: 'source-watcher' },
};

test.each([
  ['no configuration', {}, 'b2f21ae8d9d27005'],
  ['a ConfigMap', withFluxConfig(keys), 'c815829d369f0807'],
  ['a providerConfig', withTemplates(gitRepository(), kustomization(), more), '5f5269d51016bf89'],
])('equals the hash that earlier versions have recorded for %s', (_what, inputs, hash) => {
  expect(configHash(effectiveConfig(inputs))).toBe(hash);
});

test.each([
  ['the version', withTemplates(gitRepository(), kustomization(), { flux: { version: 'v2.9.4' } })],
  ['suspension', withTemplates(gitRepository(), kustomization(), { suspend: true })],
  ['a field that is passed on', withTemplates(gitRepository({ ignore: '*.md' }))],
  [
    'an additional Secret',
    withTemplates(gitRepository(), kustomization(), { additionalSecretResources: [{ name: 'a' }] }),
  ],
])('depends on %s', (_what, inputs) => {
  expect(configHash(effectiveConfig(inputs))).not.toBe(configHash(effectiveConfig(withTemplates(gitRepository()))));
});
