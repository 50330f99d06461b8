import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory, extensionFactory } from '../../shared/gardener/testing.ts';
import type { ExtensionStatus } from '../../shared/gardener/types.ts';
import { bootstrapRecord, firstLook } from './decide.ts';

const source = {
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'GitRepository',
  namespace: 'flux-system',
  name: 'a',
};
const look = (status: ExtensionStatus) => firstLook(extensionFactory({ status })).type;
const flux = (configHash: string, ready: boolean) => ({ flux: { configHash, ready } });

describe('firstLook', () => {
  it('nothing while nothing was written', () => {
    expect(look({})).toBe('nothing to record');
  });

  it('nothing when it is recorded', () => {
    const bootstrapped = { at: '2026-01-02T03:04:05Z', fluxVersion: 'v2.9.4', configHash: 'c0ffee' };
    expect(look({ state: { applied: appliedFactory(), bootstrapped } })).toBe('nothing to record');
  });

  it('Flux alone: the ManagedResources decide', () => {
    expect(look({ state: { applied: appliedFactory() } })).toBe('ask');
  });

  it('nothing while something is on its way out of the shoot', () => {
    expect(
      look({ state: { applied: appliedFactory({ leaving: ['Kustomization.kustomize.toolkit.fluxcd.io/a/b'] }) } }),
    ).toBe('nothing to record');
  });

  it('with a source: only when that is Ready for this very configuration', () => {
    const state = { applied: appliedFactory({ source }) };
    expect(look({ state })).toBe('nothing to record');
    expect(look({ state, providerStatus: flux('c0ffee', false) })).toBe('nothing to record');
    expect(look({ state, providerStatus: flux('former', true) })).toBe('nothing to record');
    expect(look({ state, providerStatus: flux('c0ffee', true) })).toBe('ask');
  });

  it("records the Go extension's bootstrap with its time", () => {
    const conditions = [conditionFactory({ type: 'FluxBootstrapped' })];
    expect(
      firstLook(extensionFactory({ status: { state: { applied: appliedFactory({ source }) }, conditions } })),
    ).toEqual({
      type: 'record',
      at: '2026-01-02T03:04:05Z',
    });
  });
});

describe('bootstrapRecord', () => {
  it('names what was applied', () => {
    const extension = extensionFactory({ status: { state: { applied: appliedFactory() } } });
    expect(bootstrapRecord(extension, new Date('2026-01-02T03:04:05.678Z'))).toEqual({
      at: '2026-01-02T03:04:05Z',
      fluxVersion: 'v2.9.4',
      configHash: 'c0ffee',
    });
  });
});
