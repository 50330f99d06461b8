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

describe('sync objects', () => {
  it('are held back on a first run, and nothing else is', () => {
    expect(order(everything, [])).toEqual({ ...changes(everything.slice(0, 3)), isHeldBack: true });
  });

  it('are written once kinds and Secrets are in the shoot, whatever the controllers do', () => {
    const live = [crds, listing('shoot-flux-secrets', [secret])];
    expect(order(['shoot-flux-sync'], live)).toEqual({ ...changes(['shoot-flux-sync']), isHeldBack: false });
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
    expect(order(['shoot-flux-sync'], [crds, secrets])).toEqual({ ...changes([]), isHeldBack: true });
  });

  it('do not wait for a Secret with new content, nor for one that leaves', () => {
    const live = [crds, listing('shoot-flux-secrets', [secret, object('Secret', 'former')])];
    const write = ['shoot-flux-secrets', 'shoot-flux-sync'];
    expect(order(write, live)).toEqual({ ...changes(write), isHeldBack: false });
  });

  it('do not wait longer for a group that cannot be applied', () => {
    for (const stuck of [
      failing('shoot-flux-secrets'),
      listing('shoot-flux-secrets', [], { metadata: { deletionTimestamp: 'x' } }),
    ]) {
      expect(order(['shoot-flux-sync'], [crds, stuck], 21).isHeldBack).toBe(false);
      expect(order(['shoot-flux-sync'], [crds, stuck], 19).isHeldBack).toBe(true);
    }
    expect(order(['shoot-flux-sync'], [crds, listing('shoot-flux-secrets', [])], 21).isHeldBack).toBe(true);
  });

  it('that do not change hold nothing back', () => {
    expect(order(['shoot-flux-secrets'], [])).toEqual({ ...changes(['shoot-flux-secrets']), isHeldBack: false });
  });
});
