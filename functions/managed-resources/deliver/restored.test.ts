import { describe, expect, it } from 'vitest';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { surplusOf, withSurplus } from './restored.ts';

const SYNC = 'shoot-flux-sync';
const SECRETS = 'shoot-flux-secrets';
const KUSTOMIZATION = 'Kustomization.kustomize.toolkit.fluxcd.io/a/apps';
const SECRET = 'Secret/a/variables';
const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'a', name: 'variables' } };
const none = { contents: new Map<string, KubeObject[]>(), released: [] as string[] };
const recorded = (parts: Partial<Applied> = {}): Applied =>
  appliedFactory({
    managedResources: { [SYNC]: 's', [SECRETS]: 'c' },
    objects: { [SECRETS]: [SECRET, 'Namespace//a'], [SYNC]: [KUSTOMIZATION] },
    ...parts,
  });
const absent: ReadonlyMap<string, ManagedResource> = new Map();
const there: ReadonlyMap<string, ManagedResource> = new Map([[SECRETS, {} as ManagedResource]]);
const restored = { live: absent, operation: 'Restore' } as const;

describe('the surplus of a restored Shoot', () => {
  it('is what the record has and the plan has not, without Namespaces, first what Flux has to finalize', () => {
    expect(surplusOf(none, { ...restored, previous: recorded() })).toEqual([KUSTOMIZATION, SECRET]);
    const contents = new Map([[SECRETS, [secret]]]);
    expect(surplusOf({ ...none, contents }, { ...restored, previous: recorded() })).toEqual([KUSTOMIZATION]);
  });

  it('counts what was pending removal on the former seed', () => {
    const previous = recorded({ managedResources: {}, objects: {}, leaving: [KUSTOMIZATION] });
    expect(surplusOf(none, { ...restored, previous })).toEqual([KUSTOMIZATION]);
  });

  it('counts when a Shoot that was restored hibernated wakes up', () => {
    const situation = { live: absent, operation: 'Reconcile', previous: recorded() } as const;
    expect(surplusOf(none, situation)).toEqual([KUSTOMIZATION, SECRET]);
  });

  it.each([
    ['is not followed any more', [SYNC], { [SYNC]: 's', [SECRETS]: 'c' }],
    ['was not followed before, and is now', [], { [SECRETS]: 'c' }],
  ])('leaves a group alone that %s', (_, released, managedResources) => {
    const previous = recorded({ managedResources });
    expect(surplusOf({ ...none, released }, { ...restored, previous })).toEqual([SECRET]);
  });

  it.each([
    ['a Shoot with ManagedResources', { live: there, operation: 'Reconcile', previous: recorded() }],
    ['a new Shoot', { live: absent, operation: 'Create', previous: undefined }],
    ['a new Shoot whose first run has ended early', { live: absent, operation: 'Create', previous: recorded() }],
  ] as const)('does not exist for %s', (_, situation) => {
    expect(surplusOf(none, situation)).toBeUndefined();
  });

  it('also counts what leaves before the new resource-manager has applied it', () => {
    const situation = { live: there, operation: 'Restore' } as const;
    expect(surplusOf(none, { ...situation, previous: recorded({ surplus: [] }) })).toEqual([KUSTOMIZATION, SECRET]);
  });

  it('survives in the record, also where the group of its objects is gone', () => {
    const next = appliedFactory({ managedResources: {}, objects: {} });
    const record = withSurplus(next, recorded(), [KUSTOMIZATION, SECRET]);
    expect(record).toMatchObject({
      objects: { [SYNC]: [KUSTOMIZATION], [SECRETS]: [SECRET] },
      surplus: [KUSTOMIZATION, SECRET],
      leaving: [KUSTOMIZATION],
    });
    expect(surplusOf(none, { live: there, operation: 'Reconcile', previous: record })).toEqual([KUSTOMIZATION, SECRET]);
  });

  it('without anything in it only says that the ManagedResources do not know everything yet', () => {
    const next = appliedFactory();
    expect(withSurplus(next, recorded(), [])).toEqual({ ...next, surplus: [] });
  });
});
