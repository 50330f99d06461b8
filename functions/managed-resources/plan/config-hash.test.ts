import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  gitRepository,
  kustomization,
  withConfig,
  withFluxConfig,
  withTemplates,
} from '../../../shared/config/config.fixtures.ts';
import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import { fluxConfigMapOf } from '../../../shared/config/flux-config-map.ts';
import type { ConfigInputs, EffectiveConfig, SecretOrigin } from '../../../shared/config/types.ts';
import { canonicalJson } from '../../../shared/gardener/managed-resource.ts';
import { configHash, layersHash, revisionOf } from './config-hash.ts';

test('is 16 hexadecimal digits', () => {
  expect(configHash(effectiveConfig({}))).toMatch(/^[0-9a-f]{16}$/);
});

test('ignores the order of keys but not of lists', () => {
  expect(canonicalJson({ b: 1, a: { d: [1, 2], c: undefined } })).toBe(canonicalJson({ a: { d: [1, 2] }, b: 1 }));
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

test('ignores fields that change no object in the shoot', () => {
  expect(configHash(effectiveConfig(withFluxConfig({})))).toBe(configHash(effectiveConfig({})));
  for (const same of [{ syncMode: 'Reconcile' }, { deletionPolicy: 'Uninstall' }]) {
    expect(configHash(effectiveConfig(withFluxConfig(same)))).toBe(configHash(effectiveConfig({})));
  }
});

const withGit = (parts: object) => withTemplates(gitRepository(), kustomization(), parts);
test.each([
  ['the version', withGit({ flux: { version: 'v2.9.4' } })],
  ['suspension', withGit({ suspend: true })],
  ['a field that is passed on', withTemplates(gitRepository({ ignore: '*.md' }))],
  ['an additional Secret', withGit({ additionalSecretResources: [{ name: 'a' }] })],
])('depends on %s', (_what, inputs) => {
  expect(configHash(effectiveConfig(inputs))).not.toBe(configHash(effectiveConfig(withTemplates(gitRepository()))));
});

const sometimes = { requiredKeys: [] };

/** Returns the FluxConfig that sets every field of a config explicitly. */
function explicit({ flux: { version, ...options }, ...config }: EffectiveConfig): ConfigInputs {
  const { source, kustomization, sourceSecret, additionalSecrets, syncMode, suspend } = config;
  const nameIn = (origin: SecretOrigin | undefined) => (origin?.type === 'resource' ? origin.resourceName : undefined);
  return withConfig({
    ...{ flux: { ...options, version: version ?? 'latest' }, syncMode, suspend },
    ...(source && { source: { template: source, secretResourceName: nameIn(sourceSecret?.origin) } }),
    ...(kustomization && { kustomization: { template: kustomization } }),
    additionalSecretResources: additionalSecrets
      .filter(({ namespace }) => namespace === options.namespace)
      .map(({ origin, targetName }) => ({ name: nameIn(origin), targetName })),
  });
}

describe('equals the hash of the same config with all defaults written out', () => {
  const installed = {
    version: fc.constantFrom('v2.9.4', '2.9.x'),
    namespace: fc.constantFrom('flux-system', 'gitops'),
  };
  const good = fc.record(
    {
      flux: fc.record(installed, sometimes),
      syncMode: fc.constantFrom('Once', 'ManifestsOnly', 'Reconcile'),
      suspend: fc.boolean(),
      additionalSecretResources: fc.constantFrom([], [{ name: 'a' }, { name: 'b', targetName: 'c' }]),
    },
    sometimes,
  );
  const named = { name: fc.constant('fleet'), namespace: fc.constantFrom('fleet', 'flux-system') };
  const repository = {
    url: fc.constant('https://git.example.com/a'),
    ref: fc.constant({ branch: 'main' }),
    interval: fc.constantFrom('5m', '0s'),
  };
  const template = fc.record({
    kind: fc.constant('GitRepository'),
    metadata: fc.record(named, sometimes),
    spec: fc.record(repository, { requiredKeys: ['url', 'ref'] }),
  });
  const path = fc.string({ minLength: 1 }).filter((text) => !/\$\{|\\|:\/\//.test(text));
  const spec = fc.record({ path, prune: fc.boolean(), wait: fc.boolean() }, { requiredKeys: ['path'] });
  const pair = fc.record({
    source: fc.record({ template, secretResourceName: fc.constant('git') }, { requiredKeys: ['template'] }),
    kustomization: fc.record({ template: fc.record({ spec }) }),
  });

  test.each([
    ['Flux only', good],
    ['with a source', fc.tuple(good, pair).map(([fields, templates]) => ({ ...fields, ...templates }))],
  ])('%s', (_what, fields) => {
    fc.assert(
      fc.property(fields, (value) => {
        const config = effectiveConfig(withConfig(value));
        const again = effectiveConfig(explicit(config));
        // Only the origins differ: the user has set more fields.
        expect(canonicalJson({ ...again, origins: {} })).toBe(canonicalJson({ ...config, origins: {} }));
        expect(configHash(again)).toBe(configHash(config));
      }),
    );
  });
});

describe('the identity of what users have written', () => {
  const hashOf = (labels: Record<string, string>, path: string) =>
    layersHash({ fluxConfig: { namespace: 'garden-foo', data: { repositoryPath: path } }, shoot: { labels } });
  const withVariable = './$'.concat('{SHOOT_LABEL_team}');

  test('includes the labels of the Shoot where a variable uses one, and otherwise not', () => {
    expect(hashOf({ team: 'blue' }, withVariable)).not.toBe(hashOf({ team: 'red' }, withVariable));
    expect(hashOf({ team: 'blue' }, './')).toBe(hashOf({ team: 'red' }, './'));
    expect(hashOf({ team: 'blue' }, './')).toBe(hashOf({}, './'));
  });

  test('of a ConfigMap that is too large differs from that of an empty one', () => {
    const empty = fluxConfigMapOf('garden-foo', {});
    const large = fluxConfigMapOf('garden-foo', { data: { key: 'x'.repeat(200_000) } });
    expect(layersHash({ fluxConfig: large })).not.toBe(layersHash({ fluxConfig: empty }));
    expect(revisionOf(large)).not.toBe(revisionOf(empty));
  });
});
