import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory, extensionFactory } from '../../shared/gardener/testing.ts';
import type { ExtensionStatus } from '../../shared/gardener/types.ts';
import { firstSuccess } from './first-success.ts';

const source = {
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'GitRepository',
  namespace: 'flux-system',
  name: 'a',
};
const decide = (status: ExtensionStatus) => firstSuccess(extensionFactory({ status }));
const flux = (configHash: string, ready: boolean) => ({ flux: { configHash, ready } });

describe('firstSuccess', () => {
  it('records nothing before anything is applied', () => {
    expect(decide({})).toBeUndefined();
  });

  it('records nothing twice', () => {
    const bootstrapped = { at: '2026-01-02T03:04:05Z', fluxVersion: 'v2.9.4', configHash: 'c0ffee' };
    expect(decide({ state: { applied: appliedFactory(), bootstrapped } })).toBeUndefined();
  });

  it('checks the ManagedResources for Flux without a source', () => {
    expect(decide({ state: { applied: appliedFactory() } })).toEqual({});
  });

  it('records nothing while objects are being removed from the shoot', () => {
    const leaving = ['Kustomization.kustomize.toolkit.fluxcd.io/a/b'];
    expect(decide({ state: { applied: appliedFactory({ leaving }) } })).toBeUndefined();
  });

  it('requires a source to be Ready for the applied configuration', () => {
    const state = { applied: appliedFactory({ source }) };
    expect(decide({ state })).toBeUndefined();
    expect(decide({ state, providerStatus: flux('c0ffee', false) })).toBeUndefined();
    expect(decide({ state, providerStatus: flux('other', true) })).toBeUndefined();
    expect(decide({ state, providerStatus: flux('c0ffee', true) })).toEqual({});
  });

  it("records the Go extension's bootstrap with its time", () => {
    const conditions = [conditionFactory({ type: 'FluxBootstrapped' })];
    const state = { applied: appliedFactory({ source }) };
    expect(decide({ state, conditions })).toEqual({ at: '2026-01-02T03:04:05Z' });
  });
});
