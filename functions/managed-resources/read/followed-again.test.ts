import { describe, expect, it, test } from 'vitest';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { standInRelease } from '../../../shared/flux/testing.ts';
import { managedResourceFactory } from '../../../shared/gardener/testing.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { inCurrentVersion, isAsWritten, isFollowedByDefault } from './plan-parts.ts';

const schema = {
  properties: {
    timeout: { type: 'string', default: '60s' },
    ref: { properties: { branch: { type: 'string' }, kind: { type: 'string', default: 'x' } } },
    dependsOn: { items: { properties: { name: {}, ready: { default: true } } } },
    provider: { default: { a: 1 } },
  },
};

describe('isAsWritten', () => {
  it.each<[string, unknown, unknown]>([
    ['equal values', { path: './a', prune: true }, { path: './a', prune: true }],
    ['what the API server fills in', { url: 'a' }, { url: 'a', timeout: '60s', provider: { a: 1 } }],
    ['the same below', { ref: { branch: 'main' } }, { ref: { branch: 'main', kind: 'x' } }],
    ['the same in lists', { dependsOn: [{ name: 'a' }] }, { dependsOn: [{ name: 'a', ready: true }] }],
  ])('is true for %s', (_what, wanted, live) => {
    expect(isAsWritten(wanted, live, schema)).toBe(true);
  });

  it.each<[string, unknown, unknown]>([
    ['another value', { path: './a' }, { path: './b' }],
    ['a field that is gone', { path: './a', prune: true }, { path: './a' }],
    ['a field that was added', { path: './a' }, { path: './a', suspend: true }],
    ['a changed default', { path: './a' }, { path: './a', timeout: '10s' }],
    ['a longer list', { dependsOn: [{ name: 'a' }] }, { dependsOn: [{ name: 'a' }, { name: 'b' }] }],
    ['another type', { ref: { branch: 'a' } }, { ref: 'a' }],
    ['a field of every object', { ref: { branch: 'a' } }, { ref: { branch: 'a', constructor: 'x' } }],
    ['an empty object', { path: './a' }, undefined],
  ])('is false for %s', (_what, wanted, live) => {
    expect(isAsWritten(wanted, live, schema)).toBe(false);
  });
});

describe('isFollowedByDefault', () => {
  const config = (changes: Partial<EffectiveConfig> = {}) =>
    ({ syncMode: 'ManifestsOnly', origins: {}, ...changes }) as EffectiveConfig;
  const released = (changes: object = {}) => ({
    ...{ previous: { syncMode: 'Once' } as Applied, isBootstrapped: true, live: new Map<string, ManagedResource>() },
    ...changes,
  });
  const managed = (parts = {}) => new Map([['shoot-flux-sync', managedResourceFactory('shoot-flux-sync', 'a', parts)]]);

  it('is true where objects were released, and the default follows the configuration', () => {
    expect(isFollowedByDefault(config(), released())).toBe(true);
    expect(isFollowedByDefault(config(), released({ previous: undefined }))).toBe(true);
    const live = managed({ metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } });
    expect(isFollowedByDefault(config(), released({ live }))).toBe(true);
  });

  it.each<[string, EffectiveConfig, ReturnType<typeof released>]>([
    ['a layer sets the mode', config({ origins: { syncMode: { object: 'x', path: 'syncMode' } } }), released()],
    ['the mode is Once', config({ syncMode: 'Once' }), released()],
    ['there was no success yet', config(), released({ isBootstrapped: false })],
    ['the record follows already', config(), released({ previous: { syncMode: 'ManifestsOnly' } })],
    ['the objects are still managed', config(), released({ live: managed() })],
  ])('is false where %s', (_what, asked, state) => {
    expect(isFollowedByDefault(asked, state)).toBe(false);
  });
});

const object = (apiVersion: string, kind: string): KubeObject => ({ apiVersion, kind, metadata: { name: 'a' } });

test.each([
  ['source.toolkit.fluxcd.io/v1beta2', 'GitRepository', 'source.toolkit.fluxcd.io/v1'],
  ['source.toolkit.fluxcd.io/v1', 'GitRepository', 'source.toolkit.fluxcd.io/v1'],
  ['image.toolkit.fluxcd.io/v1beta2', 'ImagePolicy', 'image.toolkit.fluxcd.io/v1beta2'],
  ['other.example/v1beta2', 'GitRepository', 'other.example/v1beta2'],
  ['v1', 'Secret', 'v1'],
])('an object in %s of %s is in %s', async (apiVersion, kind, expected) => {
  const before = object(apiVersion, kind);
  expect(inCurrentVersion(await standInRelease(), before)).toEqual({ ...before, apiVersion: expected });
});
