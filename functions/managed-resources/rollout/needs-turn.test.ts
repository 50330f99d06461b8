import { describe, expect, it } from 'vitest';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import { needsTurn, type Situation } from './needs-turn.ts';

const contents = (version: string) =>
  Object.fromEntries([names.crds, names.controllers, names.secrets, names.sync].map((name) => [name, name + version]));
const previous = appliedFactory({ managedResources: contents('1'), revision: 'a' });
const record = { ...previous, managedResources: contents('2'), revision: 'b' };
const live = new Map(Object.keys(contents('1')).map((name) => [name, {} as ManagedResource]));
const edited: Situation = {
  ...{ plan: { record }, previous, isBootstrapped: true },
  ...{ live, operation: 'Reconcile' },
};

describe('an edit of a running Shoot', () => {
  it('waits for its turn', () => {
    expect(needsTurn(edited)).toBe(true);
    expect(needsTurn({ ...edited, previous: { ...previous, revision: undefined } })).toBe(true);
  });

  it.each<[string, Partial<Situation>]>([
    ['of a project without a rollout', { plan: { record: { ...record, revision: undefined } } }],
    ['of the same revision', { previous: { ...previous, revision: 'b' } }],
    ['that is new', { previous: undefined }],
    ['that has not been Ready yet', { isBootstrapped: false }],
    ['that comes from another seed', { operation: 'Restore' }],
    ['that has lost a ManagedResource', { live: new Map([...live].slice(1)) }],
    [
      'whose credentials were rotated',
      { plan: { record: { ...record, managedResources: { ...contents('1'), [names.secrets]: 'new' } } } },
    ],
    ['that it does not change', { plan: { record: { ...record, managedResources: contents('1') } } }],
  ])('does not wait %s', (_, parts) => {
    expect(needsTurn({ ...edited, ...parts })).toBe(false);
  });
});
