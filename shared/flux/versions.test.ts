import { describe, expect, test } from 'vitest';
import { ConfigError } from '../errors.ts';
import { compareVersions, resolveVersion, type VersionInputs } from './versions.ts';

const origin = { object: 'ConfigMap garden-foo/flux-config', path: 'fluxVersion' };
const available = ['v2.10.0-rc.2', 'v2.9.10', 'v2.9.4', 'v2.8.8', 'v2.7.5', 'v2.3.0'];

function resolve(changes: Partial<VersionInputs> = {}): string {
  return resolveVersion({ available, origin, mayUpgrade: true, ...changes }).version;
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
    `cannot be resolved, because no available Flux release supports Kubernetes 1.20.0; upgrade the Shoot to Kubernetes 1.28, or set it to use one anyway; ${list}`,
  ],
  [{ available: [] }, 'cannot be resolved, because no stable Flux release is available; the distribution is empty'],
])('rejects %j', (changes: Partial<VersionInputs>, message) => {
  expect(sentence(changes)).toBe(`ConfigMap garden-foo/flux-config: fluxVersion ${message}`);
});

const inPolicy = 'allowed by allowedVersions in the policy of this landscape';
const policy = { allowedVersions: ['2.8.x', 'v2.7.5'] };

test.each<[string, Partial<VersionInputs>, string]>([
  ['no version', {}, 'v2.8.8'],
  ['a range', { requested: '2.x' }, 'v2.8.8'],
  ['the pinned release', { pinned: 'v2.7.5', mayUpgrade: false }, 'v2.7.5'],
  // It resolves again at once, but never to an older release.
  ['a pinned release that is not allowed any more', { pinned: 'v2.3.0', mayUpgrade: false }, 'v2.8.8'],
])('with a policy, %s resolves among what it allows', (_what, changes, version) => {
  expect(resolve({ policy, ...changes })).toBe(version);
});

test.each(
  Object.entries<Partial<VersionInputs>>({
    [`"2.9.x" matches no Flux release; only v2.8.8, v2.7.5 are ${inPolicy}`]: { requested: '2.9.x' },
    [`resolves to an older release than the installed Flux v2.9.4, which is never downgraded; use this release or a newer one; only v2.8.8, v2.7.5 are ${inPolicy}`]:
      { pinned: 'v2.9.4' },
    [`cannot be resolved, because no stable Flux release is available; no available release is ${inPolicy}`]: {
      policy: { allowedVersions: ['3.x'] },
    },
  }),
)('with a policy: %s', (message, changes) => {
  const inputs = { policy, ...changes };
  expect(sentence(inputs)).toBe(`ConfigMap garden-foo/flux-config: fluxVersion ${message}`);
  expect(() => resolve(inputs)).toThrow(
    expect.objectContaining({ issues: [expect.objectContaining({ rule: 'allowedVersions' })] }),
  );
});

const supports = {
  'v2.9.4': 'resolves to Flux v2.9.4, which supports Kubernetes 1.34 to 1.36',
  'v2.9.10': 'resolves to Flux v2.9.10, which supports Kubernetes 1.34 to 1.36',
  'v2.7.5': 'resolves to Flux v2.7.5, which supports Kubernetes 1.32 to 1.34',
};
const ask = 'ask the operators of the landscape for a Flux release that supports it';
const upgrade = 'upgrade the Shoot to Kubernetes 1.34';
const older = (release: string) => `${upgrade}, or use Flux ${release} unless a newer one is installed`;

/** `requested`, the Kubernetes, other inputs, and the warning: what is wrong, and the remedy. */
const unsupported: [
  requested: string | undefined,
  kubernetesVersion: string,
  others: Partial<VersionInputs>,
  what: string,
  remedy: string,
][] = [
  ['v2.9.4', '1.30.5', {}, supports['v2.9.4'], upgrade],
  ['v2.9.4', '1.30.5', { isTrial: true }, supports['v2.9.4'], older('v2.3.0')],
  ['2.9.4', '1.33.1-gke.1007000', { isTrial: true }, supports['v2.9.4'], older('v2.8.8')],
  ['2.9.x', 'v1.30.5+k3s1', {}, supports['v2.9.10'], upgrade],
  ['>=2.9', '1.9.0', { isTrial: true }, supports['v2.9.10'], upgrade],
  // Never downgraded: the older release of the range is no way out.
  ['2.x', '1.33.0', { pinned: 'v2.9.4' }, supports['v2.9.4'], upgrade],
  [undefined, '1.33.0', { pinned: 'v2.9.10' }, supports['v2.9.10'], upgrade],
  ['v2.9.4', '1.33.0', { pinned: 'v2.9.4', isTrial: true }, supports['v2.9.4'], upgrade],
  // The Shoot was upgraded past the range.
  ['v2.7.5', '1.35.2', { pinned: 'v2.7.5' }, supports['v2.7.5'], 'use Flux v2.9.10'],
  ['2.x', '1.35.2', { pinned: 'v2.7.5', mayUpgrade: false }, supports['v2.7.5'], 'use Flux v2.9.10'],
  ['v2.7.5', '1.35.2', { policy: { allowedVersions: ['v2.7.5'] } }, supports['v2.7.5'], ask],
  ['v2.9.4', '1.37.0', {}, supports['v2.9.4'], ask],
  [undefined, '1.37.0', {}, supports['v2.9.10'], ask],
];

test.each(unsupported)('warns of %s on Kubernetes %s with %j', (requested, kubernetesVersion, others, what, remedy) => {
  const inputs = { available, origin, mayUpgrade: true, requested, kubernetesVersion, ...others };
  const message = `${what}, but the Shoot has ${kubernetesVersion}; ${remedy}`;
  expect(resolveVersion(inputs).warnings?.[0]).toEqual({ ...origin, message });
});

test.each<[string | undefined, string | undefined, Partial<VersionInputs>]>([
  ['v2.9.4', undefined, {}],
  ['v2.9.4', '1.34.0', {}],
  ['v2.9.4', '1.36.9-gke.1', {}],
  ['v2.9.4', 'latest', {}],
  ['2.x', '1.33.0', {}],
  [undefined, '1.28.0', {}],
  ['2.x', '1.35.2', { pinned: 'v2.7.5' }],
])('does not warn of %s on Kubernetes %s with %j', (requested, kubernetesVersion, others) => {
  const inputs = { available, origin, mayUpgrade: true, requested, kubernetesVersion, ...others };
  const said = resolveVersion(inputs).warnings?.map(({ message }) => message) ?? [];
  expect(said.filter((message) => message.includes('which supports'))).toEqual([]);
});

const unmaintained = (version: string) => `resolves to Flux ${version}, whose minor version is no longer maintained`;
const lacks = 'resolves to Flux v2.9.4, which lacks the fixes of v2.9.10; use v2.9.10, or the range 2.9.x';

test.each<[string | undefined, Partial<VersionInputs>, string]>([
  ['v2.9.4', {}, lacks],
  ['<2.9.10', { kubernetesVersion: '1.35.1' }, lacks],
  ['v2.3.0', {}, `${unmaintained('v2.3.0')}; use Flux v2.9.10`],
  ['v2.3.0', { kubernetesVersion: '1.32.4' }, `${unmaintained('v2.3.0')}; use Flux v2.7.5`],
  // Nobody has asked for it: it is the newest one for this Kubernetes.
  [
    undefined,
    { kubernetesVersion: '1.29.4' },
    `${unmaintained('v2.3.0')}; upgrade the Shoot to Kubernetes 1.32, for Flux v2.7.5`,
  ],
])('warns that %s lacks fixes with %j', (requested, others, message) => {
  const { warnings = [] } = resolveVersion({ available, origin, mayUpgrade: true, requested, ...others });
  expect(warnings.at(-1)).toEqual({ ...origin, message });
});

test.each<[string, Partial<VersionInputs>]>([
  ['the newest patch', { requested: 'v2.8.8' }],
  ['the newest release', { requested: 'v2.9.10' }],
  ['a release that the next operation replaces', { requested: '2.9.x', pinned: 'v2.9.4', mayUpgrade: false }],
  ['an old minor that the next operation replaces', { pinned: 'v2.3.0', mayUpgrade: false }],
  ['a release whose fixes the policy excludes', { requested: 'v2.9.4', policy: { allowedVersions: ['v2.9.4'] } }],
  ['a pre-release', { requested: 'v2.10.0-rc.2' }],
])('does not warn that %s lacks fixes', (_, changes) => {
  expect(resolveVersion({ available, origin, mayUpgrade: true, ...changes })).not.toHaveProperty('warnings');
});

describe('with requireSupportedKubernetes', () => {
  const required = { requireSupportedKubernetes: true };
  const rule = 'which is not allowed by requireSupportedKubernetes in the policy of this landscape';

  test.each<[Partial<VersionInputs>, what: string, remedy: string]>([
    [
      { requested: '2.9.x', kubernetesVersion: '1.30.5' },
      `${supports['v2.9.10']}, but the Shoot has 1.30.5`,
      older('v2.3.0'),
    ],
    [
      { requested: '2.9.x', kubernetesVersion: '1.33.5', pinned: 'v2.7.5' },
      `${supports['v2.9.10']}, but the Shoot has 1.33.5`,
      older('v2.8.8'),
    ],
    [{ kubernetesVersion: '1.33.5', pinned: 'v2.9.4' }, `${supports['v2.9.4']}, but the Shoot has 1.33.5`, upgrade],
    [{ kubernetesVersion: '1.37.0' }, `${supports['v2.9.10']}, but the Shoot has 1.37.0`, ask],
  ])('refuses %j', (changes, what, remedy) => {
    const inputs = { policy: required, ...changes };
    expect(sentence(inputs)).toBe(`ConfigMap garden-foo/flux-config: fluxVersion ${what}, ${rule}; ${remedy}`);
    expect(() => resolve(inputs)).toThrow(
      expect.objectContaining({ issues: [expect.objectContaining({ rule: 'requireSupportedKubernetes' })] }),
    );
  });

  test('replaces a pinned release by one that supports the Kubernetes, without being asked', () => {
    const pinned = { pinned: 'v2.7.5', mayUpgrade: false, requested: '2.x' };
    expect(resolve({ policy: required, kubernetesVersion: '1.35.2', ...pinned })).toBe('v2.9.10');
    expect(resolve({ policy: required, kubernetesVersion: '1.34.2', ...pinned })).toBe('v2.7.5');
  });

  test('does not propose to use an unsupported release anyway', () => {
    expect(sentence({ policy: required, kubernetesVersion: '1.20.0' })).toContain(
      'supports Kubernetes 1.20.0; upgrade the Shoot to Kubernetes 1.28; available',
    );
  });
});
