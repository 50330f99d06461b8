import { describe, expect, it } from 'vitest';
import { managedResourceFactory } from '../../../shared/gardener/testing.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { Changes } from './changes.ts';
import { inOrder } from './prerequisites.ts';

const object = (kind: string, name: string, apiVersion = 'v1'): KubeObject => ({
  ...{ apiVersion, kind },
  metadata: { namespace: 'flux-system', name },
});
const crd: KubeObject = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: 'gitrepositories.source.toolkit.fluxcd.io' },
};
const secret = object('Secret', 'flux-source');
const contents = new Map([
  ['shoot-flux-crds', [crd]],
  ['shoot-flux-controllers', [object('Deployment', 'source-controller', 'apps/v1')]],
  ['shoot-flux-secrets', [secret]],
  ['shoot-flux-sync', [object('GitRepository', 'main-gitrepo', 'source.toolkit.fluxcd.io/v1')]],
]);
const everything = [...contents.keys()];
const changes = (write: string[]): Changes => ({
  writeSecret: write,
  write,
  release: [],
  remove: [],
  blocked: [],
  held: [],
});

/** A ManagedResource whose objects the resource-manager has listed as applied. */
function listing(name: string, objects: KubeObject[], parts: object = {}): [string, ManagedResource] {
  const resources = objects.map(({ apiVersion, kind, metadata: { name: own, namespace } }) => ({
    ...{ apiVersion, kind, name: own },
    ...(namespace && { namespace }),
  }));
  return [name, { ...managedResourceFactory(name, 'any', parts), status: { resources } }];
}
const failing = (name: string): [string, ManagedResource] => {
  const resource = managedResourceFactory(name, 'any');
  const condition = { type: 'ResourcesApplied', status: 'False', reason: 'ApplyFailed', message: 'denied' };
  const at = '2026-01-02T03:04:05Z';
  const conditions = [{ ...condition, lastTransitionTime: at, lastUpdateTime: at }];
  return [
    name,
    { ...resource, status: { observedGeneration: resource.metadata.generation ?? 0, conditions } } as ManagedResource,
  ];
};
const order = (write: string[], live: [string, ManagedResource][], seconds = 0) =>
  inOrder(changes(write), { contents }, new Map(live), seconds, 20);
const crds = listing('shoot-flux-crds', [crd]);
const leaving = listing('shoot-flux-secrets', [secret, object('Secret', 'former')]);

describe('sync objects', () => {
  it('are held back on a first run, and nothing else is', () => {
    expect(order(everything, [])).toEqual({ ...changes(everything.slice(0, 3)), heldBack: 'shoot-flux-sync' });
  });

  it('are written once kinds and Secrets are in the shoot, whatever the controllers do', () => {
    const live = [crds, listing('shoot-flux-secrets', [secret])];
    expect(order(['shoot-flux-sync'], live)).toEqual(changes(['shoot-flux-sync']));
  });

  it.each<[string, [string, ManagedResource]]>([
    ['a newly named Secret', listing('shoot-flux-secrets', [object('Secret', 'other')])],
    ['Secrets in a ManagedResource that is not applied', listing('shoot-flux-secrets', [])],
    [
      'Secrets in a ManagedResource that is being deleted',
      listing('shoot-flux-secrets', [], { metadata: { deletionTimestamp: 'x' } }),
    ],
    ['Secrets that are refused', failing('shoot-flux-secrets')],
  ])('wait for %s', (_, secrets) => {
    expect(order(['shoot-flux-sync'], [crds, secrets])).toEqual({ ...changes([]), heldBack: 'shoot-flux-sync' });
  });

  it('do not wait for a Secret with new content, nor for one that leaves', () => {
    const write = ['shoot-flux-secrets', 'shoot-flux-sync'];
    expect(order(write, [crds, listing('shoot-flux-secrets', [secret])])).toEqual(changes(write));
    expect(order(write, [crds, leaving]).write).toContain('shoot-flux-sync');
  });

  it('do not wait longer for a group that cannot be applied', () => {
    for (const stuck of [
      failing('shoot-flux-secrets'),
      listing('shoot-flux-secrets', [], { metadata: { deletionTimestamp: 'x' } }),
    ]) {
      expect(order(['shoot-flux-sync'], [crds, stuck], 21)).not.toHaveProperty('heldBack');
      expect(order(['shoot-flux-sync'], [crds, stuck], 19)).toHaveProperty('heldBack', 'shoot-flux-sync');
    }
    expect(order(['shoot-flux-sync'], [crds, listing('shoot-flux-secrets', [])], 21)).toHaveProperty(
      'heldBack',
      'shoot-flux-sync',
    );
  });

  it('that do not change hold nothing back', () => {
    expect(order(['shoot-flux-secrets'], [])).toEqual(changes(['shoot-flux-secrets']));
  });
});

describe('a Secret that leaves', () => {
  const both = ['shoot-flux-secrets', 'shoot-flux-sync'];
  const held = { ...changes(['shoot-flux-sync']), heldBack: 'shoot-flux-secrets' };
  const applied = (status: string): [string, ManagedResource] => {
    const resource = managedResourceFactory('shoot-flux-sync', 'any');
    const at = '2026-01-02T03:04:05Z';
    const condition = { type: 'ResourcesApplied', status, reason: 'Any', message: 'any', lastTransitionTime: at };
    const conditions = [{ ...condition, lastUpdateTime: at }];
    const observedGeneration = resource.metadata.generation ?? 0;
    return ['shoot-flux-sync', { ...resource, status: { observedGeneration, conditions } } as ManagedResource];
  };

  it('stays until what named it is written and applied', () => {
    expect(order(both, [crds, leaving])).toEqual(held);
    expect(order(['shoot-flux-secrets'], [crds, leaving, applied('False')])).toEqual({
      ...changes([]),
      heldBack: 'shoot-flux-secrets',
    });
    expect(order(['shoot-flux-secrets'], [crds, leaving, applied('True')])).toEqual(changes(['shoot-flux-secrets']));
  });

  it('waits no longer than patience for objects that cannot be applied', () => {
    expect(order(['shoot-flux-secrets'], [crds, leaving, applied('False')], 21)).toEqual(
      changes(['shoot-flux-secrets']),
    );
  });

  it('gives way to a Secret that comes in the same edit', () => {
    const other = listing('shoot-flux-secrets', [object('Secret', 'former')]);
    expect(order(both, [crds, other])).toEqual({ ...changes(['shoot-flux-secrets']), heldBack: 'shoot-flux-sync' });
  });

  it('waits for nothing where the sync objects are released', () => {
    const without = new Map([...contents].filter(([name]) => name !== 'shoot-flux-sync'));
    const live = new Map([crds, leaving]);
    const write = changes(['shoot-flux-secrets']);
    expect(inOrder(write, { contents: without }, live, 0, 20)).toEqual(write);
  });
});
