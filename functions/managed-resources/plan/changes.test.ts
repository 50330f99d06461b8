import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory, managedResourceFactory } from '../../../shared/gardener/testing.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { type Changes, changesOf, inOrder, leftoverSecrets } from './changes.ts';
import type { Plan } from './plan.ts';

const crds = 'shoot-flux-crds';
const secretName = 'managedresource-shoot-flux-crds-11111111';
const deleting = { metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } };

const planOf = (parts: Partial<Plan> = {}): Pick<Plan, 'record' | 'released' | 'removed'> => ({
  record: appliedFactory({ managedResources: { [crds]: secretName } }),
  released: [],
  removed: [],
  ...parts,
});
const live = (...list: ManagedResource[]) => new Map(list.map((resource) => [resource.metadata.name, resource]));
const secrets = new Set([secretName]);
const nothing = { writeSecret: [], write: [], release: [], remove: [], awaitsCrds: [], blocked: [] };

describe('changesOf', () => {
  const former = managedResourceFactory(crds, 'former');
  const current = managedResourceFactory(crds, secretName);
  const kept = managedResourceFactory(crds, secretName, { keepObjects: true });
  const goes = managedResourceFactory(crds, secretName, deleting);

  it.each<[string, ManagedResource[], ReadonlySet<string> | undefined, Partial<Changes>]>([
    ['nothing when everything is there', [current], secrets, {}],
    ['a missing ManagedResource with its Secret', [], undefined, { writeSecret: [crds], write: [crds] }],
    ['no Secret again that a killed run has written', [], secrets, { write: [crds] }],
    ['a ManagedResource that refers to another content', [former], secrets, { write: [crds] }],
    ['a ManagedResource that a user has set to keep its objects', [kept], secrets, { write: [crds] }],
    ['only the Secret when a user has deleted it', [current], new Set(), { writeSecret: [crds] }],
    ['no ManagedResource that is still being deleted', [goes], secrets, { blocked: [crds] }],
  ])('writes %s', (_, there, known, expected) => {
    expect(changesOf(planOf(), live(...there), known)).toEqual({ ...nothing, ...expected });
  });

  it('trap 27: restores the reference that keeps the Secret from being collected', () => {
    const bare = managedResourceFactory(crds, secretName, { metadata: { annotations: {} } });
    expect(changesOf(planOf(), live(bare), secrets)).toMatchObject({ write: [crds] });
  });

  describe('an upgrade', () => {
    const others = ['shoot-flux-controllers', 'shoot-flux-secrets', 'shoot-flux-sync'];
    const all = { [crds]: secretName, ...Object.fromEntries(others.map((name) => [name, 'new'])) };
    const record = appliedFactory({ managedResources: all, fluxVersion: 'v2.9.4' });
    const former = (state: 'applied' | 'failing', content = secretName) => {
      const condition = conditionFactory({ status: state === 'applied' ? 'True' : 'False' });
      const status = { observedGeneration: 2, conditions: [condition] };
      return live(
        managedResourceFactory(crds, content, { status }),
        ...others.map((name) => managedResourceFactory(name, 'old')),
      );
    };
    const changes = (there: Map<string, ManagedResource>, installed: string | undefined) =>
      changesOf(planOf({ record }), there, new Set([secretName]), { installed });

    it('keeps the installed controllers and objects until the shoot has accepted the CRDs', () => {
      const awaitsCrds = ['shoot-flux-controllers', 'shoot-flux-sync'];
      const write = [crds, 'shoot-flux-secrets'];
      const first = changes(former('applied', 'old'), 'v2.8.8');
      expect(first).toEqual({ ...nothing, writeSecret: ['shoot-flux-secrets'], write, awaitsCrds });
      expect(changes(former('failing'), 'v2.8.8')).toMatchObject({ write: ['shoot-flux-secrets'], awaitsCrds });
      expect(changes(former('applied'), 'v2.8.8')).toMatchObject({ awaitsCrds: [], write: others });
    });

    it('is not one while the same release is delivered: a correction must reach the shoot', () => {
      expect(changes(former('failing'), 'v2.9.4')).toMatchObject({ awaitsCrds: [], write: others });
    });

    it('holds nothing back that the shoot does not have yet', () => {
      expect(changes(live(), undefined)).toMatchObject({ awaitsCrds: [], write: Object.keys(all) });
    });
  });

  const sync = managedResourceFactory('shoot-flux-sync', 's');
  it('releases a ManagedResource out of scope once it is applied', () => {
    const pending = { ...sync, status: {} };
    const released = planOf({ record: appliedFactory(), released: ['shoot-flux-sync'] });
    expect(changesOf(released, live(sync), secrets)).toEqual({ ...nothing, release: [sync] });
    expect(changesOf(released, live(pending), secrets)).toEqual(nothing);
  });

  it('removes a ManagedResource without objects, once', () => {
    const removed = planOf({ record: appliedFactory(), removed: ['shoot-flux-sync'] });
    expect(changesOf(removed, live(sync), secrets)).toEqual({ ...nothing, remove: [sync] });
    expect(changesOf(removed, live(managedResourceFactory('shoot-flux-sync', 's', deleting)), secrets)).toEqual(
      nothing,
    );
  });
});

describe('leftoverSecrets', () => {
  it('names our content Secrets that nothing refers to, and no other', () => {
    const [unused, referred] = ['managedresource-shoot-flux-crds-22222222', 'managedresource-shoot-flux-sync-3'];
    const names = new Set([secretName, unused, referred, 'mine']);
    const referring = live(managedResourceFactory('shoot-flux-sync', referred));
    expect(leftoverSecrets(names, planOf(), referring)).toEqual([unused]);
  });
});

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
const changes = (write: string[]): Changes => ({ ...nothing, writeSecret: write, write });

type Named = [string, ManagedResource];

/** A ManagedResource whose objects the resource-manager has listed as applied. */
function listing(name: string, objects: KubeObject[], parts: object = {}): Named {
  const resources = objects.map(({ apiVersion, kind, metadata }) => ({ apiVersion, kind, ...metadata }));
  return [name, { ...managedResourceFactory(name, 'any', parts), status: { resources } }];
}
const inState = (name: string, status: 'True' | 'False'): Named => {
  const conditions = [conditionFactory({ status, reason: 'Any' })];
  return [name, managedResourceFactory(name, 'any', { status: { observedGeneration: 2, conditions } })];
};
const failing = (name: string) => inState(name, 'False');
const order = (write: string[], live: Named[], seconds = 0) =>
  inOrder(changes(write), { contents }, new Map(live), seconds > 20);
const crdsInShoot = listing('shoot-flux-crds', [crd]);
const beingDeleted = listing('shoot-flux-secrets', [], deleting);
const leaving = listing('shoot-flux-secrets', [secret, object('Secret', 'former')]);

describe('sync objects', () => {
  it('are held back on a first run, and nothing else is', () => {
    expect(order(everything, [])).toEqual({ ...changes(everything.slice(0, 3)), deferred: 'shoot-flux-sync' });
  });

  it('are written once kinds and Secrets are in the shoot, whatever the controllers do', () => {
    const live = [crdsInShoot, listing('shoot-flux-secrets', [secret])];
    expect(order(['shoot-flux-sync'], live)).toEqual(changes(['shoot-flux-sync']));
  });

  it.each<[string, Named]>([
    ['a newly named Secret', listing('shoot-flux-secrets', [object('Secret', 'other')])],
    ['Secrets in a ManagedResource that is not applied', listing('shoot-flux-secrets', [])],
    ['Secrets in a ManagedResource that is being deleted', beingDeleted],
    ['Secrets that are refused', failing('shoot-flux-secrets')],
  ])('wait for %s', (_, secrets) => {
    expect(order(['shoot-flux-sync'], [crdsInShoot, secrets])).toEqual({ ...changes([]), deferred: 'shoot-flux-sync' });
  });

  it('do not wait for a Secret with new content, nor for one that leaves', () => {
    const write = ['shoot-flux-secrets', 'shoot-flux-sync'];
    expect(order(write, [crdsInShoot, listing('shoot-flux-secrets', [secret])])).toEqual(changes(write));
    expect(order(write, [crdsInShoot, leaving]).write).toContain('shoot-flux-sync');
  });

  it('do not wait longer for a group that cannot be applied', () => {
    for (const stuck of [failing('shoot-flux-secrets'), beingDeleted]) {
      expect(order(['shoot-flux-sync'], [crdsInShoot, stuck], 21)).not.toHaveProperty('deferred');
      expect(order(['shoot-flux-sync'], [crdsInShoot, stuck], 19)).toHaveProperty('deferred', 'shoot-flux-sync');
    }
    const pending = listing('shoot-flux-secrets', []);
    expect(order(['shoot-flux-sync'], [crdsInShoot, pending], 21)).toHaveProperty('deferred', 'shoot-flux-sync');
  });

  it('that do not change hold nothing back', () => {
    expect(order(['shoot-flux-secrets'], [])).toEqual(changes(['shoot-flux-secrets']));
  });
});

describe('a Secret that leaves', () => {
  const both = ['shoot-flux-secrets', 'shoot-flux-sync'];
  const deferred = { ...changes(['shoot-flux-sync']), deferred: 'shoot-flux-secrets' };

  it('stays until what named it is written and applied, and no longer than patience for what cannot be applied', () => {
    expect(order(both, [crdsInShoot, leaving])).toEqual(deferred);
    const alone = (status: 'True' | 'False', seconds = 0) =>
      order(['shoot-flux-secrets'], [crdsInShoot, leaving, inState('shoot-flux-sync', status)], seconds);
    expect(alone('False')).toEqual({ ...changes([]), deferred: 'shoot-flux-secrets' });
    for (const order of [alone('True'), alone('False', 21)]) expect(order).toEqual(changes(['shoot-flux-secrets']));
  });

  it('gives way to a Secret that comes in the same edit', () => {
    const live = [crdsInShoot, listing('shoot-flux-secrets', [object('Secret', 'former')])];
    expect(order(both, live)).toEqual({ ...changes(['shoot-flux-secrets']), deferred: 'shoot-flux-sync' });
  });

  it('waits for nothing where the sync objects are released', () => {
    const without = new Map([...contents].filter(([name]) => name !== 'shoot-flux-sync'));
    const live = new Map([crdsInShoot, leaving]);
    const write = changes(['shoot-flux-secrets']);
    expect(inOrder(write, { contents: without }, live, false)).toEqual(write);
  });
});
