import { describe, expect, it, test } from 'vitest';
import { noticesOf, oldestKubernetes } from './support.ts';

test('knows from which Kubernetes on each minor version is supported', () => {
  const minors = { 'v2.9': '1.34', 'v2.8': '1.33', 'v2.7': '1.32', 'v2.6': '1.31', 'v2.5': '1.30', 'v2.3': '1.28' };
  for (const [minor, oldest] of Object.entries(minors)) expect(oldestKubernetes(`${minor}.0`)).toBe(oldest);
});

describe('the notices about a release', () => {
  const releases = ['v2.7.5', 'v2.9.4', 'none', 'v2.9.10', 'v2.10.0-rc.1', 'v2.8.8', 'v2.6.5'];

  it.each([
    ['v2.9.10', {}],
    ['v2.8.8', {}],
    ['v2.7.5', {}],
    ['v2.9.4', { patch: 'v2.9.10' }],
    ['v2.9.11', {}],
    // Unmaintained, whether or not it has its last patch.
    ['v2.6.5', { minor: 'v2.9.10' }],
    ['v2.6.4', { minor: 'v2.9.10' }],
    ['v1.9.4', { minor: 'v2.9.10' }],
    ['none', {}],
  ])('%s: %j', (version, notices) => {
    expect(noticesOf(version, releases)).toEqual(notices);
  });

  it('count no pre-releases as newer', () => {
    expect(noticesOf('v2.9.4', ['v2.9.5-rc.1', 'v2.12.0-rc.1'])).toEqual({});
    expect(noticesOf('v2.9.5-rc.1', ['v2.9.5'])).toEqual({ patch: 'v2.9.5' });
  });

  it('say whether the Kubernetes is too old or too new', () => {
    expect(noticesOf('v2.9.4', releases, '1.33')).toEqual({ patch: 'v2.9.10', kubernetes: 'old' });
    expect(noticesOf('v2.9.10', releases, '1.37.2')).toEqual({ kubernetes: 'new' });
    expect(noticesOf('v2.9.10', releases, '1.34.0')).toEqual({});
  });
});
