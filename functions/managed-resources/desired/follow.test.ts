import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory, extensionFactory } from '../../../shared/gardener/testing.ts';
import { followed, isBootstrapped, isUnfollowed } from './follow.ts';

describe('followed', () => {
  it.each(['Once', 'ManifestsOnly', 'Reconcile'] as const)('everything in mode %s until the first success', (mode) => {
    expect(followed(mode, false, undefined)).toEqual({ install: true, sync: true });
  });

  it.each([
    ['Once', { install: false, sync: false }],
    ['ManifestsOnly', { install: false, sync: true }],
    ['Reconcile', { install: true, sync: true }],
  ] as const)('in mode %s after it: %j', (mode, expected) => {
    expect(followed(mode, true, undefined)).toEqual(expected);
  });

  it('sources and Kustomizations while something of them is on its way out', () => {
    const leaving = appliedFactory({ leaving: ['Kustomization.kustomize.toolkit.fluxcd.io/a/b'] });
    expect(followed('Once', true, leaving)).toEqual({ install: false, sync: true });
    expect(followed('Once', true, appliedFactory())).toEqual({ install: false, sync: false });
  });
});

describe('isBootstrapped', () => {
  const former = (status: 'True' | 'False') => [conditionFactory({ type: 'FluxBootstrapped', status })];

  it('by our own record, which survives a migration (trap 20)', () => {
    const state = { bootstrapped: { at: '2026-01-02T03:04:05Z', fluxVersion: 'v2.9.4', configHash: 'a' } };
    expect(isBootstrapped(extensionFactory({ status: { state } }))).toBe(true);
  });

  it('by the condition of the Go extension, when it is True', () => {
    expect(isBootstrapped(extensionFactory({ status: { conditions: former('True') } }))).toBe(true);
    expect(isBootstrapped(extensionFactory({ status: { conditions: former('False') } }))).toBe(false);
  });

  it('not without either', () => {
    expect(isBootstrapped(extensionFactory())).toBe(false);
  });
});

describe('isUnfollowed', () => {
  const issues = (...paths: string[]) => paths.map((path) => ({ object: 'configuration', path, message: 'is wrong' }));

  it.each([
    ['Once', 'source.template.spec.url', true],
    ['Once', 'additionalSecretResources[0].name', false],
    ['ManifestsOnly', 'additionalSecretResources[0].name', false],
    ['ManifestsOnly', 'flux.components[0]', true],
    ['ManifestsOnly', 'fluxVersion', true],
    ['ManifestsOnly', 'source.template.spec.url', false],
    ['ManifestsOnly', 'syncMode', false],
    ['Reconcile', 'flux.version', false],
  ] as const)('mode %s, %s after the first success: %s', (mode, path, expected) => {
    expect(isUnfollowed(issues(path), followed(mode, true, undefined))).toBe(expected);
  });

  it('one issue in a part that is followed is enough', () => {
    expect(isUnfollowed(issues('flux.version', 'source'), followed('ManifestsOnly', true, undefined))).toBe(false);
  });

  it('everything counts before the first success', () => {
    expect(isUnfollowed(issues('flux.version'), followed('Once', false, undefined))).toBe(false);
  });
});
