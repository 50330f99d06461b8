import { describe, expect, it } from 'vitest';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import type { Applied, ManagedResource, OperationType } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { surplusOf, withSurplus } from './restored.ts';

const SYNC = 'shoot-flux-sync';
const SECRETS = 'shoot-flux-secrets';
const KUSTOMIZATION = 'Kustomization.kustomize.toolkit.fluxcd.io/a/apps';
const SECRET = 'Secret/a/variables';
const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'a', name: 'variables' } };
const recorded = (parts: Partial<Applied> = {}): Applied =>
  appliedFactory({
    managedResources: { [SYNC]: 's', [SECRETS]: 'c' },
    objects: { [SECRETS]: [SECRET, 'Namespace//a'], [SYNC]: [KUSTOMIZATION] },
    ...parts,
  });
const there = new Map([[SECRETS, {} as ManagedResource]]);

/** The surplus of a plan without objects. */
const surplus = (
  previous: Applied | undefined,
  operation: OperationType = 'Restore',
  live = new Map<string, ManagedResource>(),
  plan: { contents?: Map<string, KubeObject[]>; released?: string[] } = {},
) => surplusOf({ contents: new Map(), released: [], ...plan }, { previous, live }, operation);

describe('the surplus of a restored Shoot', () => {
  it('is what the record has and the plan has not, without Namespaces, first what Flux has to finalize', () => {
    expect(surplus(recorded())).toEqual([KUSTOMIZATION, SECRET]);
    const contents = new Map([[SECRETS, [secret]]]);
    expect(surplus(recorded(), 'Restore', new Map(), { contents })).toEqual([KUSTOMIZATION]);
  });

  it('counts what was pending removal on the former seed', () => {
    expect(surplus(recorded({ managedResources: {}, objects: {}, leaving: [KUSTOMIZATION] }))).toEqual([KUSTOMIZATION]);
  });

  it('counts when a Shoot that was restored hibernated wakes up', () => {
    expect(surplus(recorded(), 'Reconcile')).toEqual([KUSTOMIZATION, SECRET]);
  });

  it.each([
    ['is not followed any more', [SYNC], { [SYNC]: 's', [SECRETS]: 'c' }],
    ['was not followed before, and is now', [], { [SECRETS]: 'c' }],
  ])('leaves a group alone that %s', (_, released, managedResources) => {
    expect(surplus(recorded({ managedResources }), 'Restore', new Map(), { released })).toEqual([SECRET]);
  });

  it('does not exist for a Shoot with ManagedResources, nor for a new one, also if its first run has ended early', () => {
    expect(surplus(recorded(), 'Reconcile', there)).toBeUndefined();
    expect(surplus(undefined, 'Create')).toBeUndefined();
    expect(surplus(recorded(), 'Create')).toBeUndefined();
  });

  it('also counts what leaves before the new resource-manager has applied it', () => {
    expect(surplus(recorded({ surplus: [] }), 'Restore', there)).toEqual([KUSTOMIZATION, SECRET]);
  });

  it('survives in the record, also where the group of its objects is gone', () => {
    const next = appliedFactory({ managedResources: {}, objects: {} });
    const record = withSurplus(next, recorded(), [KUSTOMIZATION, SECRET]);
    expect(record).toMatchObject({
      objects: { [SYNC]: [KUSTOMIZATION], [SECRETS]: [SECRET] },
      surplus: [KUSTOMIZATION, SECRET],
      leaving: [KUSTOMIZATION],
    });
    expect(surplus(record, 'Reconcile', there)).toEqual([KUSTOMIZATION, SECRET]);
  });

  it('without anything in it only says that the ManagedResources do not know everything yet', () => {
    const next = appliedFactory();
    expect(withSurplus(next, recorded(), [])).toEqual({ ...next, surplus: [] });
  });
});
