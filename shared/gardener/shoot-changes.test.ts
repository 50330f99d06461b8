import { expect, test } from 'vitest';
import type { Cause } from '../runtime/change-request.ts';
import { changesFor, onlyProjectOf, selfHostedCluster } from './shoot-changes.ts';
import type { Shoot } from './types.ts';

const cause: Cause = {
  ...{ type: 'object', cluster: 'garden', kind: 'ConfigMap', namespace: 'garden-foo', name: 'flux-config' },
  ...{ uid: 'u', resourceVersion: '7' },
};

function shoot({ spec = {}, status = {} }: Pick<Shoot, 'spec' | 'status'> = {}): Shoot {
  return {
    metadata: { namespace: 'garden-foo', name: 'bar' },
    spec: { seedName: 'one', ...spec },
    status: { technicalID: 'shoot--foo--bar', seedName: 'one', ...status },
  };
}

const clusters = (of: Shoot, seeds = ['one', 'two']) => changesFor(of, seeds, cause).map(({ key }) => key.cluster);

test('returns one change with the cause for a Shoot', () => {
  expect(changesFor(shoot(), ['one'], cause)).toEqual([
    { function: 'managed-resources', key: { cluster: 'one', namespace: 'shoot--foo--bar', name: 'shoot-flux' }, cause },
  ]);
});

test.each<[string, Shoot, string[], string[]]>([
  ['both seeds during a control plane migration', shoot({ spec: { seedName: 'two' } }), ['one', 'two'], ['one', 'two']],
  ['only the seeds that this deployment serves', shoot({ spec: { seedName: 'two' } }), ['two', 'three'], ['two']],
  ['none where it serves no seed', shoot(), [], []],
  ['none without a seed', { metadata: { name: 'bar' } }, ['one'], []],
  ['none without a control plane', { ...shoot(), status: {} }, ['one'], []],
  ['none while the technical ID is empty: not begun', shoot({ status: { technicalID: '' } }), ['one'], []],
])('returns changes for %s', (_, of, seeds, expected) => {
  expect(clusters(of, seeds)).toEqual(expected);
});

test('returns one change for the self-hosted Shoot that the deployment runs in', () => {
  const metadata = { namespace: 'garden-foo', name: 'root' };
  const spec = { provider: { workers: [{ name: 'worker' }, { name: 'own', controlPlane: {} }] } };
  // Its technical ID names no namespace of the cluster.
  const selfHosted: Shoot = { metadata, spec, status: { technicalID: 'shoot--foo--root' } };
  const served = [selfHostedCluster(metadata)];
  expect(changesFor(selfHosted, served, cause).map(({ key }) => key)).toEqual([
    { cluster: 'shoot--garden-foo--root', namespace: 'kube-system', name: 'shoot-flux' },
  ]);
  expect(clusters({ ...selfHosted, metadata: { namespace: 'garden-other', name: 'root' } }, served)).toEqual([]);
  expect(clusters({ metadata, status: { technicalID: 'shoot--foo--root' } }, served)).toEqual([]);
  expect(clusters(shoot(), [selfHostedCluster(shoot().metadata)])).toEqual([]);
});

test.each([
  [['shoot--garden-foo--bar', 'shoot--garden-foo--baz'], 'garden-foo'],
  [['shoot--garden--bar'], 'garden'],
  [['shoot--garden-foo--bar', 'shoot--garden-other--bar'], undefined],
  [['shoot--garden-foo--bar', 'my-seed'], undefined],
  [[], undefined],
])('of clusters %j, the only project is %s', (clusters, project) => {
  expect(onlyProjectOf(clusters)).toBe(project);
});

test.each(['a/b', 'x'.repeat(64), '-a', 'a\n'])('returns nothing for a Shoot with technical ID %j', (technicalID) => {
  expect(clusters(shoot({ status: { technicalID } }))).toEqual([]);
});

test.each([
  [[{ type: 'shoot-flux' }], 1],
  [[{ type: 'shoot-flux', disabled: false }], 1],
  [[{ type: 'other', disabled: true }], 1],
  [[], 1],
  [[{ type: 'shoot-flux', disabled: true }], 0],
])('for a Shoot with extensions %j, returns %i changes', (extensions, count) => {
  expect(clusters(shoot({ spec: { extensions } }))).toHaveLength(count);
});
