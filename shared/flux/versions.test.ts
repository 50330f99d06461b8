import { expect, test } from 'vitest';
import { ConfigError } from '../errors.ts';
import { compareVersions, oldestKubernetes, resolveVersion, type VersionInputs } from './versions.ts';

const origin = { object: 'ConfigMap garden-foo/flux-config', path: 'fluxVersion' };
const available = ['v2.3.0', 'v2.9.4', 'v2.10.0-rc.2', 'v2.8.8', 'v2.9.10', 'v2.7.5'];

function resolve(changes: Partial<VersionInputs> = {}): string {
  return resolveVersion({ available, origin, mayUpgrade: true, ...changes });
}

function sentence(changes: Partial<VersionInputs>): string {
  try {
    return `no error but ${resolve(changes)}`;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
}

test('orders versions by number, releases after their pre-releases', () => {
  const names = ['v2.10.0', 'nothing', 'v2.9.10', '2.9.9', 'v2.10.0-rc.10', 'v2.10.0-rc.9', 'v3.0.0'];
  expect(names.sort(compareVersions)).toEqual([
    ...['nothing', '2.9.9', 'v2.9.10', 'v2.10.0-rc.9', 'v2.10.0-rc.10', 'v2.10.0', 'v3.0.0'],
  ]);
});

test('knows from which Kubernetes on each minor version is supported', () => {
  const minors = { 'v2.9': '1.34', 'v2.8': '1.33', 'v2.7': '1.32', 'v2.6': '1.31', 'v2.5': '1.30', 'v2.3': '1.28' };
  for (const [minor, oldest] of Object.entries(minors)) expect(oldestKubernetes(`${minor}.0`)).toBe(oldest);
});

test.each([
  ['v2.9.4', 'v2.9.4'],
  ['2.9.4', 'v2.9.4'],
  ['2.9.x', 'v2.9.10'],
  ['v2.8.x', 'v2.8.8'],
  ['2.x', 'v2.9.10'],
  ['v2.10.0-rc.2', 'v2.10.0-rc.2'],
])('resolves %s to %s', (requested, version) => {
  expect(resolve({ requested })).toBe(version);
});

test.each([
  [undefined, 'v2.9.10'],
  ['1.36.1', 'v2.9.10'],
  ['1.34.0', 'v2.9.10'],
  ['1.33.9', 'v2.8.8'],
  ['v1.32.0', 'v2.7.5'],
  ['1.29.4', 'v2.3.0'],
])('without a requested version, Kubernetes %s gets %s', (kubernetesVersion, version) => {
  expect(resolve({ kubernetesVersion })).toBe(version);
});

test('prefers releases in a range that support the Kubernetes, but uses others if there are none', () => {
  expect(resolve({ requested: '2.x', kubernetesVersion: '1.33.0' })).toBe('v2.8.8');
  expect(resolve({ requested: '2.9.x', kubernetesVersion: '1.33.0' })).toBe('v2.9.10');
  expect(resolve({ requested: 'v2.9.4', kubernetesVersion: '1.20.0' })).toBe('v2.9.4');
});

test.each([
  ['stays without a reason to upgrade', { pinned: 'v2.8.8', mayUpgrade: false }, 'v2.8.8'],
  ['stays within its range', { pinned: 'v2.9.4', requested: '2.9.x', mayUpgrade: false }, 'v2.9.4'],
  ['is found with another spelling', { pinned: '2.9.4', mayUpgrade: false }, 'v2.9.4'],
  ['is upgraded in an operation', { pinned: 'v2.9.4', mayUpgrade: true }, 'v2.9.10'],
  [
    'is upgraded at once when it no longer matches',
    { pinned: 'v2.8.8', requested: '2.9.x', mayUpgrade: false },
    'v2.9.10',
  ],
  ['is replaced when it has left the distribution', { pinned: 'v2.8.9', mayUpgrade: false }, 'v2.9.10'],
  [
    'stays although it does not support the Kubernetes',
    { pinned: 'v2.9.4', kubernetesVersion: '1.32.0', mayUpgrade: true },
    'v2.9.4',
  ],
  ['stays on a Kubernetes that no release supports', { pinned: 'v2.3.0', kubernetesVersion: '1.20.0' }, 'v2.3.0'],
  ['may be a pre-release that the user wants', { pinned: 'v2.10.0-rc.2', requested: 'v2.10.0-rc.2' }, 'v2.10.0-rc.2'],
])('a pinned release %s', (_, changes: Partial<VersionInputs>, version) => {
  expect(resolve(changes)).toBe(version);
});

const list = 'available releases are v2.10.0-rc.2, v2.9.10, v2.9.4, v2.8.8, v2.7.5, v2.3.0';

test.each([
  [{ requested: 'v2.9.5' }, `"v2.9.5" matches no Flux release; ${list}`],
  [{ requested: '2.6.x' }, `"2.6.x" matches no Flux release; ${list}`],
  [{ requested: '>=2.7 or newer' }, `">=2.7 or newer" is neither a release nor a range; ${list}`],
  [{ requested: '>2.9' }, `">2.9" matches no Flux release; ${list}`],
  [
    { requested: 'v2.8.8', pinned: 'v2.9.4' },
    `resolves to an older release than the installed Flux v2.9.4, which is never downgraded; use this release or a newer one; ${list}`,
  ],
  [
    { kubernetesVersion: '1.20.0' },
    `cannot be resolved, because no available Flux release supports Kubernetes 1.20.0; set it to use one anyway; ${list}`,
  ],
  [{ available: [] }, 'cannot be resolved, because no stable Flux release is available; the distribution is empty'],
])('rejects %j', (changes: Partial<VersionInputs>, message) => {
  expect(sentence(changes)).toBe(`ConfigMap garden-foo/flux-config: fluxVersion ${message}`);
});

const inPolicy = 'allowed by allowedVersions in the policy of this landscape';

test.each<[string, Partial<VersionInputs>, string]>([
  ['no version', {}, 'v2.8.8'],
  ['a range', { requested: '2.x' }, 'v2.8.8'],
  ['the pinned release', { pinned: 'v2.7.5', mayUpgrade: false }, 'v2.7.5'],
  // It resolves again at once, but never to an older release.
  ['a pinned release that is not allowed any more', { pinned: 'v2.3.0', mayUpgrade: false }, 'v2.8.8'],
])('with a policy, %s resolves among what it allows', (_what, changes, version) => {
  expect(resolve({ allowed: ['2.8.x', 'v2.7.5'], ...changes })).toBe(version);
});

test.each(
  Object.entries<Partial<VersionInputs>>({
    [`"2.9.x" matches no Flux release; only v2.8.8, v2.7.5 are ${inPolicy}`]: { requested: '2.9.x' },
    [`resolves to an older release than the installed Flux v2.9.4, which is never downgraded; use this release or a newer one; only v2.8.8, v2.7.5 are ${inPolicy}`]:
      { pinned: 'v2.9.4' },
    [`cannot be resolved, because no stable Flux release is available; no available release is ${inPolicy}`]: {
      allowed: ['3.x'],
    },
  }),
)('with a policy: %s', (message, changes) => {
  const inputs = { allowed: ['2.8.x', 'v2.7.5'], ...changes };
  expect(sentence(inputs)).toBe(`ConfigMap garden-foo/flux-config: fluxVersion ${message}`);
  expect(() => resolve(inputs)).toThrow(
    expect.objectContaining({ issues: [expect.objectContaining({ rule: 'allowedVersions' })] }),
  );
});
