import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory, extensionFactory } from '../../shared/gardener/testing.ts';
import type { ExtensionStatus } from '../../shared/gardener/types.ts';
import { bootstrapRecord, decideFromExtension } from './first-success.ts';

const source = {
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'GitRepository',
  namespace: 'flux-system',
  name: 'a',
};
const decide = (status: ExtensionStatus) => decideFromExtension(extensionFactory({ status })).type;
const flux = (configHash: string, ready: boolean) => ({ flux: { configHash, ready } });

describe('decideFromExtension', () => {
  it('records nothing before anything is applied', () => {
    expect(decide({})).toBe('nothing to record');
  });

  it('records nothing twice', () => {
    const bootstrapped = { at: '2026-01-02T03:04:05Z', fluxVersion: 'v2.9.4', configHash: 'c0ffee' };
    expect(decide({ state: { applied: appliedFactory(), bootstrapped } })).toBe('nothing to record');
  });

  it('checks the ManagedResources for Flux without a source', () => {
    expect(decide({ state: { applied: appliedFactory() } })).toBe('check ManagedResources');
  });

  it('records nothing while objects are being removed from the shoot', () => {
    expect(
      decide({ state: { applied: appliedFactory({ leaving: ['Kustomization.kustomize.toolkit.fluxcd.io/a/b'] }) } }),
    ).toBe('nothing to record');
  });

  it('requires a source to be Ready for the applied configuration', () => {
    const state = { applied: appliedFactory({ source }) };
    expect(decide({ state })).toBe('nothing to record');
    expect(decide({ state, providerStatus: flux('c0ffee', false) })).toBe('nothing to record');
    expect(decide({ state, providerStatus: flux('other', true) })).toBe('nothing to record');
    expect(decide({ state, providerStatus: flux('c0ffee', true) })).toBe('check ManagedResources');
  });

  it("records the Go extension's bootstrap with its time", () => {
    const conditions = [conditionFactory({ type: 'FluxBootstrapped' })];
    expect(
      decideFromExtension(extensionFactory({ status: { state: { applied: appliedFactory({ source }) }, conditions } })),
    ).toEqual({
      type: 'record',
      at: '2026-01-02T03:04:05Z',
    });
  });
});

it('the record names the applied configuration and Flux release', () => {
  const at = '2026-01-02T03:04:05Z';
  const record = { at, fluxVersion: 'v2.9.4', configHash: 'c0ffee' };
  expect(bootstrapRecord(appliedFactory(), new Date('2026-01-02T03:04:05.678Z'))).toEqual(record);
  expect(bootstrapRecord(appliedFactory(), at)).toEqual(record);
});
