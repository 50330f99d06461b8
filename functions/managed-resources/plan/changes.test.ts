import { describe, expect, it } from 'vitest';
import { appliedFactory, managedResourceFactory } from '../../../shared/gardener/testing.ts';
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
const nothing = { writeSecret: [], write: [], release: [], remove: [], blocked: [] };

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
