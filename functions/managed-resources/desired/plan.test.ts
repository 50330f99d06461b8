import { describe, expect, it } from 'vitest';
import { appliedFactory, managedResourceFactory } from '../../../shared/gardener/testing.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { Desired } from './desired.ts';
import { leftoverSecrets, plan } from './plan.ts';

const crds = 'shoot-flux-crds';
const secretName = 'managedresource-shoot-flux-crds-11111111';
const deleting = { metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } };

const wanted = (parts: Partial<Desired> = {}): Desired => ({
  applied: appliedFactory({ managedResources: { [crds]: secretName } }),
  contents: new Map(),
  released: [],
  removed: [],
  ...parts,
});
const live = (...list: ManagedResource[]) => new Map(list.map((resource) => [resource.metadata.name, resource]));
const secrets = new Set([secretName]);
const nothing = { writeSecret: [], write: [], release: [], remove: [], blocked: [] };

describe('plan', () => {
  it('writes nothing when everything is there', () => {
    expect(plan(wanted(), live(managedResourceFactory(crds, secretName)), secrets)).toEqual(nothing);
  });

  it('writes what is missing', () => {
    expect(plan(wanted(), live(), undefined)).toEqual({ ...nothing, writeSecret: [crds], write: [crds] });
  });

  it('writes no Secret that a run which was killed has written already', () => {
    expect(plan(wanted(), live(), secrets)).toEqual({ ...nothing, write: [crds] });
  });

  it('writes what refers to another content', () => {
    expect(plan(wanted(), live(managedResourceFactory(crds, 'former')), secrets)).toEqual({
      ...nothing,
      write: [crds],
    });
  });

  it('writes what somebody set to keep its objects', () => {
    expect(
      plan(wanted(), live(managedResourceFactory(crds, secretName, { keepObjects: true })), secrets),
    ).toMatchObject({ write: [crds] });
  });

  it('trap 27: restores the reference that keeps the Secret from being collected', () => {
    const bare = managedResourceFactory(crds, secretName, { metadata: { annotations: {} } });
    expect(plan(wanted(), live(bare), secrets)).toMatchObject({ write: [crds] });
  });

  it('writes a Secret that somebody took away, and only that', () => {
    expect(plan(wanted(), live(managedResourceFactory(crds, secretName)), new Set())).toEqual({
      ...nothing,
      writeSecret: [crds],
    });
  });

  it('waits for one that is still being deleted', () => {
    expect(plan(wanted(), live(managedResourceFactory(crds, secretName, deleting)), secrets)).toEqual({
      ...nothing,
      blocked: [crds],
    });
  });

  const sync = managedResourceFactory('shoot-flux-sync', 's');
  it('releases what the mode lets go, once it is applied', () => {
    const pending = { ...sync, status: {} };
    const released = wanted({ applied: appliedFactory(), released: ['shoot-flux-sync'] });
    expect(plan(released, live(sync), secrets)).toEqual({ ...nothing, release: [sync] });
    expect(plan(released, live(pending), secrets)).toEqual(nothing);
  });

  it('removes what has no objects any more, once', () => {
    const removed = wanted({ applied: appliedFactory(), removed: ['shoot-flux-sync'] });
    expect(plan(removed, live(sync), secrets)).toEqual({ ...nothing, remove: [sync] });
    expect(plan(removed, live(managedResourceFactory('shoot-flux-sync', 's', deleting)), secrets)).toEqual(nothing);
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
    expect(leftoverSecrets(names, wanted(), referring)).toEqual(['managedresource-shoot-flux-crds-22222222']);
  });
});
