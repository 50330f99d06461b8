import { describe, expect, it } from 'vitest';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { Desired } from '../desired/desired.ts';
import { directPlan, leavesDirectly } from './direct-plan.ts';

const SYNC = 'shoot-flux-sync';
const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io';
const kustomization = (name: string): KubeObject => ({
  apiVersion: `${KUSTOMIZE}/v1`,
  kind: 'Kustomization',
  metadata: { namespace: 'a', name },
});
const ref = (name: string) => `Kustomization.${KUSTOMIZE}/a/${name}`;
const wanted = (name: string, hashes: Record<string, string>, released: string[] = []): Desired => ({
  applied: appliedFactory({ managedResources: hashes, objects: { [SYNC]: [ref(name)] } }),
  contents: new Map([[SYNC, [kustomization(name)]]]),
  released,
  removed: [],
});
const direct = (parts: Partial<Applied>): Applied => appliedFactory({ delivery: 'Direct', ...parts });

describe('what is on record before a direct delivery', () => {
  it('counts as delivered only what stays as it is: half-way back to the former content is not there', () => {
    const former = direct({ delivered: { crds: 'c1', [SYNC]: 's1' }, managedResources: { crds: 'c1', [SYNC]: 's1' } });
    const { before } = directPlan(wanted('b', { crds: 'c1', [SYNC]: 's2' }), former);
    expect(before.delivered).toEqual({ crds: 'c1' });
    expect(directPlan(wanted('a', { crds: 'c1', [SYNC]: 's1' }), before).before.delivered).toEqual({ crds: 'c1' });
  });

  it('goes on where a run ran out of time, with the same contents alone', () => {
    const former = direct({ arrived: 7, managedResources: { [SYNC]: 's1' } });
    const same = directPlan(wanted('a', { [SYNC]: 's1' }), former);
    expect([same.arrived, same.before.arrived]).toEqual([7, 7]);
    const other = directPlan(wanted('a', { [SYNC]: 's2' }), former);
    expect([other.arrived, other.before]).toEqual([0, expect.not.objectContaining({ arrived: 7 })]);
  });
});

describe('a resource-manager that takes over', () => {
  const objects = { [SYNC]: [ref('old')] };

  it.each([
    ['what nobody asks for any more goes first', wanted('new', {}), direct({ objects }), true],
    ['nothing has to go', wanted('old', {}), direct({ objects }), false],
    [
      'what is on its way already is not waited for',
      wanted('new', {}),
      direct({ objects, leaving: [ref('old')] }),
      false,
    ],
    ['what is let go stays', wanted('new', {}, [SYNC]), direct({ objects }), false],
    ['it has applied the former objects itself', wanted('new', {}), appliedFactory({ objects }), false],
  ] as const)('%s', (_, next, previous, expected) => {
    expect(leavesDirectly(next, previous)).toBe(expected);
  });
});
