import { describe, expect, it } from 'vitest';
import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import { chooseVersion, type VersionInputs } from './version.ts';

const all = { install: true, sync: true };
const sources = { install: false, sync: true };
const previous = (fluxVersion: string) => ({ fluxVersion }) as Applied;

function chosen(version: string | undefined, parts: Partial<VersionInputs> = {}): string {
  return chooseVersion({
    config: effectiveConfig({ providerConfig: { flux: { version } } }),
    scope: all,
    previous: previous('v2.9.4'),
    liveVersion: undefined,
    areCrdsRejected: false,
    available: ['v2.7.5', 'v2.9.2', 'v2.9.4'],
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

  it('may be an older one when the configuration asks for it and the shoot rejects the recorded one', () => {
    expect(chosen('2.7.5', { areCrdsRejected: true })).toBe('v2.7.5');
    expect(chosen('2.7.x', { areCrdsRejected: true })).toBe('v2.7.5');
    expect(chosen(undefined, { areCrdsRejected: true, previous: previous('v2.9.2') })).toBe('v2.9.2');
  });

  it('is the recorded one when Flux is out of scope, as long as it is in the distribution', () => {
    expect(chosen('2.7.5', { scope: sources })).toBe('v2.9.4');
    expect(chosen('2.7.5', { scope: sources, previous: previous('v2.8.0') })).toBe('v2.9.4');
  });

  it('is not older than the one in the shoot', () => {
    expect(() => chosen('2.7.5', { previous: undefined, liveVersion: 'v2.9.2' })).toThrow(
      'the installed Flux v2.9.2, which is never downgraded',
    );
    expect(chosen(undefined, { previous: previous('v2.7.5'), liveVersion: 'v2.9.2' })).toBe('v2.9.2');
  });
});
