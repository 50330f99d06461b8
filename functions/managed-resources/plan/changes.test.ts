import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory, managedResourceFactory } from '../../../shared/gardener/testing.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import { changesOf, leftoverSecrets } from './changes.ts';
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
const nothing = { writeSecret: [], write: [], release: [], remove: [], held: [], blocked: [] };

describe('changesOf', () => {
  it('writes nothing when everything is there', () => {
    expect(changesOf(planOf(), live(managedResourceFactory(crds, secretName)), secrets)).toEqual(nothing);
  });

  it('writes a missing ManagedResource with its Secret', () => {
    expect(changesOf(planOf(), live(), undefined)).toEqual({ ...nothing, writeSecret: [crds], write: [crds] });
  });

  it('does not write a Secret again that a killed run has written', () => {
    expect(changesOf(planOf(), live(), secrets)).toEqual({ ...nothing, write: [crds] });
  });

  it('writes a ManagedResource that refers to another content', () => {
    expect(changesOf(planOf(), live(managedResourceFactory(crds, 'former')), secrets)).toEqual({
      ...nothing,
      write: [crds],
    });
  });

  it('writes a ManagedResource that a user has set to keep its objects', () => {
    expect(
      changesOf(planOf(), live(managedResourceFactory(crds, secretName, { keepObjects: true })), secrets),
    ).toMatchObject({ write: [crds] });
  });

  it('trap 27: restores the reference that keeps the Secret from being collected', () => {
    const bare = managedResourceFactory(crds, secretName, { metadata: { annotations: {} } });
    expect(changesOf(planOf(), live(bare), secrets)).toMatchObject({ write: [crds] });
  });

  it('writes only the Secret when a user has deleted it', () => {
    expect(changesOf(planOf(), live(managedResourceFactory(crds, secretName)), new Set())).toEqual({
      ...nothing,
      writeSecret: [crds],
    });
  });

  it('is blocked by a ManagedResource that is still being deleted', () => {
    expect(changesOf(planOf(), live(managedResourceFactory(crds, secretName, deleting)), secrets)).toEqual({
      ...nothing,
      blocked: [crds],
    });
  });

  describe('an upgrade', () => {
    const all = {
      [crds]: secretName,
      'shoot-flux-controllers': 'new',
      'shoot-flux-secrets': 'new',
      'shoot-flux-sync': 'new',
    };
    const record = appliedFactory({ managedResources: all, fluxVersion: 'v2.9.4' });
    const former = (state: 'applied' | 'failing', content = secretName) => {
      const condition = conditionFactory({ status: state === 'applied' ? 'True' : 'False' });
      const status = { observedGeneration: 2, conditions: [condition] };
      const others = Object.keys(all).slice(1);
      return live(
        managedResourceFactory(crds, content, { status }),
        ...others.map((name) => managedResourceFactory(name, 'old')),
      );
    };
    const changes = (there: Map<string, ManagedResource>, installed: string | undefined) =>
      changesOf(planOf({ record }), there, new Set([secretName]), { installed });

    it('keeps the installed controllers and objects until the shoot has accepted the CRDs', () => {
      const held = ['shoot-flux-controllers', 'shoot-flux-sync'];
      const first = changes(former('applied', 'old'), 'v2.8.8');
      expect(first).toEqual({
        ...nothing,
        writeSecret: ['shoot-flux-secrets'],
        write: [crds, 'shoot-flux-secrets'],
        held,
      });
      expect(changes(former('failing'), 'v2.8.8')).toMatchObject({ write: ['shoot-flux-secrets'], held });
      expect(changes(former('applied'), 'v2.8.8')).toMatchObject({ held: [], write: Object.keys(all).slice(1) });
    });

    it('is not one while the same release is delivered: a correction must reach the shoot', () => {
      expect(changes(former('failing'), 'v2.9.4')).toMatchObject({ held: [], write: Object.keys(all).slice(1) });
    });

    it('holds nothing back that the shoot does not have yet', () => {
      expect(changes(live(), undefined)).toMatchObject({ held: [], write: Object.keys(all) });
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
    const names = new Set([
      secretName,
      'managedresource-shoot-flux-crds-22222222',
      'managedresource-shoot-flux-sync-3',
      'mine',
    ]);
    const referring = live(managedResourceFactory('shoot-flux-sync', 'managedresource-shoot-flux-sync-3'));
    expect(leftoverSecrets(names, planOf(), referring)).toEqual(['managedresource-shoot-flux-crds-22222222']);
  });
});
