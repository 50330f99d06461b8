import { describe, expect, it } from 'vitest';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { directChanges, planDelivery } from './direct.ts';
import type { Plan } from './plan.ts';

const SYNC = 'shoot-flux-sync';
const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io';
const kustomization = (name: string): KubeObject => ({
  apiVersion: `${KUSTOMIZE}/v1`,
  kind: 'Kustomization',
  metadata: { namespace: 'a', name },
});
const ref = (name: string) => `Kustomization.${KUSTOMIZE}/a/${name}`;
const planOf = (
  name: string,
  hashes: Record<string, string>,
  released: string[] = [],
): Pick<Plan, 'record' | 'contents' | 'released'> => ({
  record: appliedFactory({ managedResources: hashes, objects: { [SYNC]: [ref(name)] } }),
  contents: new Map([[SYNC, [kustomization(name)]]]),
  released,
});
const direct = (parts: Partial<Applied>): Applied => appliedFactory({ delivery: 'Direct', ...parts });

const lastWas = (previous: Applied | undefined, isBootstrapped = true) => ({ previous, isBootstrapped });

describe('the record before a direct delivery', () => {
  it('counts only unchanged contents as delivered, even if a change is reverted before it is delivered', () => {
    const former = direct({ delivered: { crds: 'c1', [SYNC]: 's1' }, managedResources: { crds: 'c1', [SYNC]: 's1' } });
    const { recordBefore: before } = directChanges(planOf('b', { crds: 'c1', [SYNC]: 's2' }), lastWas(former));
    expect(before.delivered).toEqual({ crds: 'c1' });
    const reverted = directChanges(planOf('a', { crds: 'c1', [SYNC]: 's1' }), lastWas(before));
    expect(reverted.recordBefore.delivered).toEqual({ crds: 'c1' });
  });

  it('continues where a run ran out of time, with the same contents only', () => {
    const former = direct({ arrived: 7, managedResources: { [SYNC]: 's1' } });
    const same = directChanges(planOf('a', { [SYNC]: 's1' }), lastWas(former));
    expect([same.alreadyApplied, same.recordBefore.arrived]).toEqual([7, 7]);
    const other = directChanges(planOf('a', { [SYNC]: 's2' }), lastWas(former));
    expect([other.alreadyApplied, other.recordBefore]).toEqual([0, expect.not.objectContaining({ arrived: 7 })]);
  });
});

describe('the objects that a direct delivery deletes', () => {
  const objects = { [SYNC]: [ref('old')] };
  const next = planOf('new', { [SYNC]: 's2' });

  it.each([
    [
      'are those that left a group which is followed',
      lastWas(direct({ objects, managedResources: { [SYNC]: 's1' } })),
      true,
    ],
    ['are none that a sync mode has released to the user', lastWas(direct({ objects })), false],
    ['are those of a group that has no objects left', lastWas(direct({ objects, syncMode: 'Reconcile' })), true],
    ['are those that left before the first success, when no mode releases', lastWas(direct({ objects }), false), true],
    [
      'are those whose removal kept the group from being released',
      lastWas(direct({ objects, leaving: [ref('old')] })),
      true,
    ],
  ] as const)('%s', (_, last, isDeleted) => {
    const { surplus, recordBefore } = directChanges(next, last);
    expect(surplus).toEqual(isDeleted ? [ref('old')] : []);
    // Otherwise the next run would take them for objects that have left since.
    expect(recordBefore.objects[SYNC]).toEqual(isDeleted ? [ref('new'), ref('old')] : [ref('new')]);
  });
});

describe('planDelivery, before a resource-manager takes over', () => {
  const objects = { [SYNC]: [ref('old')] };

  it.each([
    ['first deletes an object that the plan no longer has', planOf('new', {}), direct({ objects }), true],
    ['hands over without a surplus object', planOf('old', {}), direct({ objects }), false],
    [
      'hands over an object that is being deleted already',
      planOf('new', {}),
      direct({ objects, leaving: [ref('old')] }),
      false,
    ],
    ['hands over an object of a released ManagedResource', planOf('new', {}, [SYNC]), direct({ objects }), false],
    [
      'leaves former objects that the resource-manager has applied to it',
      planOf('new', {}),
      appliedFactory({ objects }),
      false,
    ],
  ] as const)('%s', (_, next, previous, isSurplus) => {
    const { by } = planDelivery('ManagedResource', next, { ...lastWas(previous, false), live: new Map() });
    expect(by).toBe(isSurplus ? 'us' : 'ManagedResource');
  });
});
