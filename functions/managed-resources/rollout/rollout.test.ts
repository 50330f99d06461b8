import { describe, expect, it, test } from 'vitest';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import type { Applied, ManagedResource, OperationType } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { needsTurn, rotatedCopies } from './rollout.ts';

const contents = (version: string) =>
  Object.fromEntries([names.crds, names.controllers, names.secrets, names.sync].map((name) => [name, name + version]));
const previous = appliedFactory({ managedResources: contents('1'), revision: 'a' });
const record = { ...previous, managedResources: contents('2'), revision: 'b' };
const live = new Map(Object.keys(contents('1')).map((name) => [name, {} as ManagedResource]));
const controlPlane = { previous, isBootstrapped: true, live };

describe('an edit of a running Shoot', () => {
  it('waits for its turn', () => {
    expect(needsTurn({ record }, controlPlane, 'Reconcile')).toBe(true);
    const first = { ...controlPlane, previous: { ...previous, revision: undefined } };
    expect(needsTurn({ record }, first, 'Reconcile')).toBe(true);
  });

  it.each<[string, Partial<Applied>, Partial<typeof controlPlane>, OperationType?]>([
    ['of a project without a rollout', { revision: undefined }, {}],
    ['of the same revision', { revision: 'a' }, {}],
    ['that is new', {}, { previous: undefined as never }],
    ['that has not been Ready yet', {}, { isBootstrapped: false }],
    ['that comes from another seed', {}, {}, 'Restore'],
    ['that has lost a ManagedResource', {}, { live: new Map([...live].slice(1)) }],
    ['whose credentials were rotated', { managedResources: { ...contents('1'), [names.secrets]: 'new' } }, {}],
    ['that it does not change', { managedResources: contents('1') }, {}],
  ])('does not wait %s', (_, ofRecord, parts, operation = 'Reconcile') => {
    const plan = { record: { ...record, ...ofRecord } };
    expect(needsTurn(plan, { ...controlPlane, ...parts }, operation)).toBe(false);
  });
});

const secret = (name: string, data: Record<string, string>, type = 'Opaque'): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'flux-system', name }, type, data },
});
const info: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'flux-system', name: 'info' } };
const ofProject = ['flux-source flux-system/auth', 'flux-sops flux-system/flux-sops'];
const auth = { identity: 'a', known_hosts: 'one' };
const kept = [secret('auth', auth), secret('flux-sops', { 'age.agekey': 'a' }), secret('own', { token: 'a' }), info];

/** Returns the names of the copies that are rotated, given what the next configuration asks for. */
function rotated(next: KubeObject[], nextOfProject = ofProject): string[] {
  const copies = rotatedCopies({ objects: kept, ofProject }, { objects: next, ofProject: nextOfProject });
  if (copies === undefined) return [];
  expect(copies.map(({ metadata, data: _, ...rest }) => [metadata, rest])).toEqual(
    kept.map(({ metadata, data: _, ...rest }) => [metadata, rest]),
  );
  return copies.filter((copy, index) => copy !== kept[index]).map(({ metadata }) => metadata.name);
}

test('takes the contents of Secrets of the project that both configurations copy', () => {
  expect(rotated(kept)).toEqual([]);
  expect(rotated([secret('auth', { ...auth, identity: 'b' })])).toEqual(['auth']);
  expect(rotated([secret('flux-sops', { 'age.agekey': 'b', 'other.agekey': 'c' })])).toEqual(['flux-sops']);
});

test('leaves everything else to the next configuration', () => {
  expect(rotated([secret('own', { token: 'b' })])).toEqual([]);
  expect(rotated([secret('flux-registry', { '.dockerconfigjson': 'b' })])).toEqual([]);
  expect(rotated([{ ...info, data: { region: 'b' } }])).toEqual([]);
});

test.each([
  ['that is another Secret under the same name', { ...auth, identity: 'b' }, ['flux-sops flux-system/auth'], 'Opaque'],
  ['of a Shoot under the same name', { ...auth, identity: 'b' }, [], 'Opaque'],
  ['for another host', { identity: 'b', known_hosts: 'other' }, ofProject, 'Opaque'],
  ['of another kind', { username: 'b', password: 'c' }, ofProject, 'Opaque'],
  ['of another type', { ...auth, identity: 'b' }, ofProject, 'kubernetes.io/ssh-auth'],
])('brings no credentials %s', (_, data, nextOfProject, type) => {
  expect(rotated([secret('auth', data, type)], nextOfProject)).toEqual([]);
});
