import { describe, expect, it } from 'vitest';
import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import { chooseVersion, everInstalled, type VersionInputs, withInstalled } from './version.ts';

const all = { install: true, sync: true };
const sources = { install: false, sync: true };
const previous = (fluxVersion: string) => ({ fluxVersion }) as Applied;

function chosen(version: string | undefined, parts: Partial<VersionInputs> = {}): string {
  return choose(version, parts).version;
}

function choose(version: string | undefined, parts: Partial<VersionInputs>) {
  return chooseVersion({
    config: effectiveConfig({ providerConfig: { flux: { version } } }),
    scope: all,
    previous: previous('v2.9.4'),
    liveVersion: undefined,
    available: ['v2.9.4', 'v2.9.2', 'v2.7.5'],
    kubernetesVersion: '1.36.0',
    isAsked: false,
    ...parts,
  });
}

describe('the release to render', () => {
  it('is the recorded one, never an older one', () => {
    expect(chosen('2.9.x')).toBe('v2.9.4');
    expect(() => chosen('2.7.5')).toThrow('never downgraded');
  });

  it('is the recorded one when Flux is out of scope, as long as it is in the distribution', () => {
    expect(chosen('2.7.5', { scope: sources })).toBe('v2.9.4');
    expect(chosen('2.7.5', { scope: sources, previous: previous('v2.8.0') })).toBe('v2.9.4');
  });

  it('comes with a warning on a Kubernetes that it does not support, unless Flux is out of scope', () => {
    const warningOf = (parts: Partial<VersionInputs>) =>
      choose('v2.9.4', { kubernetesVersion: '1.30.5', ...parts }).warnings?.[0]?.message;
    const sentence = expect.stringMatching(/^resolves to Flux v2\.9\.4, .*; upgrade the Shoot to Kubernetes 1\.34$/);
    expect(warningOf({})).toEqual(sentence);
    // The sentence stays the same once it is installed, and is one Event.
    expect(warningOf({ previous: undefined, available: ['v2.9.4', 'v2.5.1'] })).toEqual(sentence);
    expect(warningOf({ scope: sources })).toBeUndefined();
    expect(warningOf({ scope: sources, available: ['v2.5.1'], kubernetesVersion: '1.40.0' })).toBeUndefined();
  });

  it('is not older than the one in the shoot', () => {
    expect(() => chosen('2.7.5', { previous: undefined, liveVersion: 'v2.9.2' })).toThrow(
      'the installed Flux v2.9.2, which is never downgraded',
    );
    expect(chosen(undefined, { previous: previous('v2.7.5'), liveVersion: 'v2.9.2' })).toBe('v2.9.2');
  });
});

describe('the newest release that was ever installed', () => {
  it('is the one whose CRDs the shoot has accepted, also while it rejects them for a while', () => {
    expect(everInstalled({ installed: 'v2.9.4' }, [])).toBe('v2.9.4');
  });

  it('is that of all CRDs in the shoot: of a release that it rejects, it may have accepted some', () => {
    expect(everInstalled(undefined, ['v2.3.0', 'v2.9.4', 'v2.3.0'])).toBe('v2.3.0');
    expect(everInstalled(undefined, ['v2.9.4', 'v2.9.4'])).toBe('v2.9.4');
    expect(everInstalled({ installed: 'v2.9.4' }, ['v2.8.8'])).toBe('v2.9.4');
  });

  it('is none when the shoot has rejected every CRD of the only release', () => {
    expect(everInstalled({}, [])).toBeUndefined();
    expect(chosen('2.7.5', { previous: undefined, liveVersion: undefined })).toBe('v2.7.5');
  });

  it('survives whatever the labels of the CRDs in the shoot say', () => {
    expect(everInstalled({ installed: 'v2.9.4' }, ['', 'latest', 'v2', '-1'])).toBe('v2.9.4');
  });

  it('is recorded once the CRDs are applied, and never becomes older', () => {
    const applied = appliedFactory({ fluxVersion: 'v2.8.8', managedResources: { 'shoot-flux-crds': 'a' } });
    expect(withInstalled(applied).installed).toBe('v2.8.8');
    expect(withInstalled({ ...applied, installed: 'v2.9.4' }).installed).toBe('v2.9.4');
    expect(withInstalled({ ...applied, managedResources: {} })).not.toHaveProperty('installed');
  });
});
