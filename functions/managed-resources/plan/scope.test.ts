import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory, extensionFactory } from '../../../shared/gardener/testing.ts';
import { areOutOfScope, isBootstrapped, updateScope, withKeptMode } from './scope.ts';

describe('updateScope', () => {
  it.each(['Once', 'ManifestsOnly', 'Reconcile'] as const)(
    'has all in scope in mode %s until the first success',
    (mode) => {
      expect(updateScope(mode, false, undefined)).toEqual({ install: true, sync: true });
    },
  );

  it.each([
    ['Once', { install: false, sync: false }],
    ['ManifestsOnly', { install: false, sync: true }],
    ['Reconcile', { install: true, sync: true }],
  ] as const)('in mode %s after the first success: %j', (mode, expected) => {
    expect(updateScope(mode, true, undefined)).toEqual(expected);
  });

  it('keeps sources and Kustomizations in scope while one of them is pending removal', () => {
    const pending = appliedFactory({ leaving: ['Kustomization.kustomize.toolkit.fluxcd.io/a/b'] });
    expect(updateScope('Once', true, pending)).toEqual({ install: false, sync: true });
    expect(updateScope('Once', true, appliedFactory())).toEqual({ install: false, sync: false });
  });
});

it.each([
  ['Once', 'ManifestsOnly', 'Once'],
  ['Once', 'Reconcile', 'Once'],
  ['Reconcile', 'ManifestsOnly', 'ManifestsOnly'],
  ['ManifestsOnly', 'Once', 'Once'],
  ['Reconcile', 'Reconcile', 'Reconcile'],
] as const)('after mode %s, a configuration in mode %s that is not applied is recorded with %s', (last, mode, kept) => {
  const previous = appliedFactory({ syncMode: last });
  expect(withKeptMode(previous, mode)).toEqual({ ...previous, syncMode: kept });
});

describe('isBootstrapped', () => {
  const former = (status: 'True' | 'False') => [conditionFactory({ type: 'FluxBootstrapped', status })];

  it('is true if our own record says so, which survives a migration (trap 20)', () => {
    const state = { bootstrapped: { at: '2026-01-02T03:04:05Z', fluxVersion: 'v2.9.4', configHash: 'a' } };
    expect(isBootstrapped(extensionFactory({ status: { state } }))).toBe(true);
  });

  it('is true if the condition of the Go extension is True, and false if it is False or absent', () => {
    expect(isBootstrapped(extensionFactory({ status: { conditions: former('True') } }))).toBe(true);
    expect(isBootstrapped(extensionFactory({ status: { conditions: former('False') } }))).toBe(false);
    expect(isBootstrapped(extensionFactory())).toBe(false);
  });
});

describe('areOutOfScope', () => {
  const issues = (...paths: string[]) => paths.map((path) => ({ object: 'configuration', path, message: 'is wrong' }));

  it.each([
    ['Once', 'source.template.spec.url', true],
    ['Once', 'additionalSecretResources[0].name', false],
    ['ManifestsOnly', 'flux.components[0]', true],
    ['ManifestsOnly', 'config.yaml.flux.version', true],
    ['ManifestsOnly', 'overrides.yaml[12].config.flux.patches[0].patch', true],
    ['ManifestsOnly', 'overrides.yaml[0].config.source.template.spec.url', false],
    ['ManifestsOnly', 'overrides.yaml[0].selector', false],
    ['Once', 'config.yaml.additionalSecretResources[0].name', false],
    ['ManifestsOnly', 'source.template.spec.url', false],
    ['Reconcile', 'flux.version', false],
  ] as const)('in mode %s, after the first success, the answer for an issue at %s is %s', (mode, path, expected) => {
    expect(areOutOfScope(issues(path), updateScope(mode, true, undefined))).toBe(expected);
  });

  it('is false for one issue in scope among others', () => {
    expect(areOutOfScope(issues('flux.version', 'source'), updateScope('ManifestsOnly', true, undefined))).toBe(false);
  });

  it('is false before the first success', () => {
    expect(areOutOfScope(issues('flux.version'), updateScope('Once', false, undefined))).toBe(false);
  });
});
