import { describe, expect, it, test } from 'vitest';
import {
  gitRepository,
  kustomization,
  kustomizationOf,
  problems,
  withFluxConfig,
  withProviderConfig,
} from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import { mergePatch } from './merge.ts';
import { originOf } from './origins.ts';

const project = withFluxConfig({
  repositoryUrl: 'https://github.com/org/fleet',
  repositoryPath: './clusters/all',
  kustomizationInterval: '10m',
});
const patched = (patch: unknown, more: object = {}) => ({
  ...project,
  ...withProviderConfig({ kustomization: { patch, ...more } }),
});

describe('kustomization.patch', () => {
  it('changes fields of the lower layer, which keeps its name, its namespace and everything else', () => {
    const lower = effectiveConfig(project);
    const config = effectiveConfig(patched({ spec: { path: './clusters/staging' }, metadata: { labels: { a: 'b' } } }));
    const { metadata, spec } = kustomizationOf(lower);
    expect(config.kustomization).toEqual({
      ...lower.kustomization,
      metadata: { ...metadata, labels: { a: 'b' } },
      spec: { ...(spec as object), path: './clusters/staging' },
    });
    expect(config.source).toEqual(lower.source);
    expect(config.syncMode).toBe('ManifestsOnly');
  });

  it('removes a field with null', () => {
    expect(kustomizationOf(effectiveConfig(patched({ spec: { targetNamespace: null } }))).spec).not.toHaveProperty(
      'targetNamespace',
    );
  });

  it("changes the landscape's Kustomization", () => {
    const defaults = {
      source: { template: gitRepository() },
      kustomization: { template: kustomization({ prune: true }, { metadata: { name: 'platform' } }) },
    };
    const config = effectiveConfig({
      landscape: { defaults },
      ...withProviderConfig({ kustomization: { patch: { spec: { path: './other' } } } }),
    });
    expect(config.kustomization).toMatchObject({
      metadata: { name: 'platform' },
      spec: { path: './other', prune: true },
    });
  });

  it('says for each field where it comes from', () => {
    const { origins } = effectiveConfig(patched({ spec: { path: './clusters/staging' } }));
    expect(originOf(origins, 'kustomization.spec.path')).toEqual({
      object: 'providerConfig',
      path: 'kustomization.patch.spec.path',
    });
    expect(originOf(origins, 'kustomization.spec.interval')).toMatchObject({ path: 'kustomizationInterval' });
  });

  it.each(
    Object.entries<[unknown, object]>({
      'kustomization.patch.metadata.name is not a known key; known keys are labels, annotations': [
        { metadata: { name: 'other' } },
        {},
      ],
      'kustomization.patch cannot be combined with template; remove one of them': [
        { spec: { path: './a' } },
        { template: kustomization() },
      ],
      'kustomization.patch.spec.interval "5 minutes" is not a duration; use numbers with the units h, m, s or ms, for example 5m or 1h30m':
        [{ spec: { interval: '5 minutes' } }, {}],
      'kustomization.patch.spec.path is missing; set it, for example ./clusters/production': [
        { spec: { path: null } },
        {},
      ],
      'kustomization.patch.metadata.annotations has the key "resources.gardener.cloud/ignore", which is reserved for Gardener; remove it':
        [{ metadata: { annotations: { 'resources.gardener.cloud/ignore': 'true' } } }, {}],
    }),
  )('rejects: %s', (sentence, [patch, more]) => {
    expect(problems(patched(patch, more))).toEqual([`providerConfig: ${sentence}`]);
  });

  it.each([
    [
      { sourceRef: { kind: 'Bucket' } },
      'sourceRef.kind "Bucket" is not the kind of the configured source; use GitRepository or omit sourceRef',
    ],
    [
      { sourceRef: { namespace: 'x' } },
      'sourceRef.namespace must be flux-system, the namespace of the Kustomization, because multiTenancy is true',
    ],
  ])('is named by what the rules for several layers find in %j', (spec, sentence) => {
    const inputs = patched({ spec }, {});
    const data = { ...inputs.fluxConfig?.data, multiTenancy: 'true' };
    expect(problems({ ...inputs, fluxConfig: { namespace: 'garden-foo', data } })).toEqual([
      `providerConfig: kustomization.patch.spec.${sentence}`,
    ]);
  });

  it('rejects a patch of nothing', () => {
    expect(problems(withProviderConfig({ kustomization: { patch: { spec: { path: './a' } } } }))).toEqual([
      'providerConfig: kustomization.patch has no Kustomization to change, because no lower layer has one; use template instead of patch',
    ]);
  });
});

test('mergePatch merges objects, replaces lists, and removes what is null', () => {
  const target = { a: { b: 1, c: [1, 2] }, d: 'x' };
  expect(mergePatch(target, { a: { c: [3], e: { f: null, g: 1 } }, d: null })).toEqual({
    a: { b: 1, c: [3], e: { g: 1 } },
  });
  expect(target).toEqual({ a: { b: 1, c: [1, 2] }, d: 'x' });
  const hostile = mergePatch({}, JSON.parse('{"__proto__": {"polluted": true}}'));
  expect(Object.keys(hostile)).toEqual(['__proto__']);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
