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
    follow: all,
    previous: previous('v2.9.4'),
    liveVersion: undefined,
    refused: false,
    available: ['v2.7.5', 'v2.9.2', 'v2.9.4'],
    kubernetesVersion: '1.36.0',
    asked: false,
    ...parts,
  });
}

describe('the release to render', () => {
  it('is what is on record, never an older one', () => {
    expect(chosen('2.9.x')).toBe('v2.9.4');
    expect(() => chosen('2.7.5')).toThrow('never downgraded');
  });

  it('may be an older one that is asked for, when the shoot refuses the one on record', () => {
    expect(chosen('2.7.5', { refused: true })).toBe('v2.7.5');
    expect(chosen('2.7.x', { refused: true })).toBe('v2.7.5');
    expect(chosen(undefined, { refused: true, previous: previous('v2.9.2') })).toBe('v2.9.2');
  });

  it('is the one on record where Flux is the user’s, as long as it is at hand', () => {
    expect(chosen('2.7.5', { follow: sources })).toBe('v2.9.4');
    expect(chosen('2.7.5', { follow: sources, previous: previous('v2.8.0') })).toBe('v2.9.4');
  });

  it('is not older than what lives in the shoot', () => {
    expect(() => chosen('2.7.5', { previous: undefined, liveVersion: 'v2.9.2' })).toThrow('v2.9.2 is installed');
    expect(chosen(undefined, { previous: previous('v2.7.5'), liveVersion: 'v2.9.2' })).toBe('v2.9.2');
  });
});
