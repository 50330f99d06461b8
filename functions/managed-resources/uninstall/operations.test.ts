import { describe, expect, it } from 'vitest';
import { appliedFactory, clusterFactory, extensionFactory } from '../../../shared/gardener/testing.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import { decideRemoval } from './operations.ts';

const deletionTimestamp = '2026-01-02T03:04:05Z';
const later = (seconds: number) => new Date(Date.parse(deletionTimestamp) + seconds * 1000);
const bootstrapped = { at: '2026-01-01T00:00:00Z', fluxVersion: 'v2.9.4', configHash: 'c0ffee' };
const leaving = (applied: Partial<Applied>, isBootstrapped = true) =>
  extensionFactory({
    metadata: { deletionTimestamp },
    status: { state: { applied: appliedFactory(applied), ...(isBootstrapped ? { bootstrapped } : {}) } },
  });

describe('decideRemoval', () => {
  it.each([
    ['Once', undefined, true, 'stays'],
    ['Once', undefined, false, 'is removed'],
    ['Once', 'Uninstall', true, 'is removed'],
    ['ManifestsOnly', undefined, true, 'stays'],
    ['Reconcile', undefined, true, 'is removed'],
    ['Reconcile', 'Orphan', true, 'stays'],
    ['Reconcile', 'Orphan', false, 'stays'],
  ] as const)('mode %s, policy %s, first success %s: Flux %s', (syncMode, deletionPolicy, isBootstrapped, expected) => {
    const extension = leaving({ syncMode, ...(deletionPolicy && { deletionPolicy }) }, isBootstrapped);
    const { uninstall } = decideRemoval(extension, clusterFactory(), later(1));
    expect(uninstall === undefined ? 'stays' : 'is removed').toBe(expected);
  });

  it.each([
    ['Orphan in a broken providerConfig', 'Uninstall', { deletionPolicy: 'Orphan', typo: 1 }, 'stays'],
    ['Uninstall in a broken providerConfig', 'Orphan', { deletionPolicy: 'Uninstall', typo: 1 }, 'is removed'],
    ['a providerConfig without a policy', 'Uninstall', { typo: 1 }, 'is removed'],
  ] as const)('%s, recorded %s: Flux %4$s', (_, recorded, providerConfig, expected) => {
    const extension = leaving({ deletionPolicy: recorded });
    const written = { ...extension, spec: { ...extension.spec, providerConfig } };
    const { uninstall } = decideRemoval(written, clusterFactory(), later(1));
    expect(uninstall === undefined ? 'stays' : 'is removed').toBe(expected);
  });

  it.each([
    [1, 2],
    [180, 2],
    [181, 30],
    [240, 60],
    [86_400, 900],
  ])('rechecks %i s after the request in %i s: a foreign finalizer may stay for days', (waited, seconds) => {
    expect(decideRemoval(leaving({}), clusterFactory(), later(waited)).recheckInSeconds).toBe(seconds);
  });

  const soon = { isLost: false, isOverdue: false, recheckInSeconds: 2, removesFinalizers: false };
  it('removes nothing without a record', () => {
    expect(decideRemoval(extensionFactory({ metadata: { deletionTimestamp } }), clusterFactory(), later(1))).toEqual(
      soon,
    );
  });

  const uninstalled = leaving({ deletionPolicy: 'Uninstall' });
  const staysBecause = 'The Shoot is hibernated, so Flux stays in the shoot.';

  it('trap 18: leaves Flux in a Shoot that is being deleted, which has no nodes any more', () => {
    const cluster = clusterFactory({ metadata: { deletionTimestamp } });
    expect(decideRemoval(uninstalled, cluster, later(1))).toEqual({ ...soon, isLost: true });
  });

  it('trap 17: leaves Flux in a hibernated Shoot, with the reason', () => {
    const cluster = clusterFactory({ spec: { hibernation: { enabled: true } }, status: { hibernated: true } });
    const expected = { ...soon, isLost: true, removesFinalizers: true, staysBecause };
    expect(decideRemoval(uninstalled, cluster, later(1))).toEqual(expected);
  });

  it('leaves Flux in a Shoot that is about to hibernate, and resumes objects that an earlier attempt has suspended', () => {
    const cluster = clusterFactory({ spec: { hibernation: { enabled: true } } });
    const expected = { ...soon, isLost: true, staysBecause, resumes: 'may' };
    expect(decideRemoval(uninstalled, cluster, later(1))).toEqual(expected);
  });

  it('trap 16: gives up after two of the three minutes that gardenlet waits, with the reason', () => {
    expect(decideRemoval(uninstalled, clusterFactory(), later(119)).uninstall).toBeDefined();
    expect(decideRemoval(uninstalled, clusterFactory(), later(121))).toEqual({
      ...{ isLost: true, isOverdue: true, recheckInSeconds: 2, removesFinalizers: true },
      staysBecause: 'Flux could not be removed within 120 s; the rest of it stays in the shoot.',
      resumes: 'must',
    });
    expect(decideRemoval(uninstalled, clusterFactory(), later(151))).toMatchObject({ resumes: 'may' });
  });
});

describe('a repeated deletion', () => {
  const asked = (seconds: number, parts: Partial<Applied> = {}) => {
    const extension = leaving({ deletionPolicy: 'Uninstall', ...parts });
    extension.metadata.annotations = { 'gardener.cloud/timestamp': later(seconds).toISOString() };
    return extension;
  };

  it('does not begin again for ever: all requests together have a quarter of an hour of removing', () => {
    const extension = asked(890, { removalBegan: later(0).toISOString() });
    expect(decideRemoval(extension, clusterFactory(), later(899)).uninstall).toBeDefined();
    expect(decideRemoval(extension, clusterFactory(), later(901))).toMatchObject({
      resumes: 'once',
      staysBecause: 'Flux could not be removed within 900 s; the rest of it stays in the shoot.',
    });
  });

  it('gets the full time again: the first one may have found us down, or the Shoot Failed', () => {
    expect(decideRemoval(asked(600), clusterFactory(), later(700)).uninstall).toBeDefined();
    expect(decideRemoval(asked(600), clusterFactory(), later(721)).uninstall).toBeUndefined();
  });

  it('counts from the deletion when the timestamp belongs to the operation before', () => {
    expect(decideRemoval(asked(-600), clusterFactory(), later(119)).uninstall).toBeDefined();
  });
});

describe("the resource-manager's finalizer", () => {
  it.each(['true', 'True', '1'])('is removed at once in a force deletion: "%s"', (value) => {
    const annotations = { 'confirmation.gardener.cloud/force-deletion': value };
    const cluster = clusterFactory({ metadata: { deletionTimestamp, annotations } });
    expect(decideRemoval(leaving({}), cluster, later(1)).removesFinalizers).toBe(true);
  });

  const annotations = { 'gardener.cloud/operation': 'migrate', 'gardener.cloud/timestamp': deletionTimestamp };
  it.each([
    ['stays while the resource-manager may run', leaving({})],
    ["stays for a minute after gardenlet's timestamp in a migration", extensionFactory({ metadata: { annotations } })],
  ])('%s', (_, extension) => {
    const notForced = { 'confirmation.gardener.cloud/force-deletion': 'false' };
    const cluster = clusterFactory({ metadata: { annotations: notForced } });
    expect(decideRemoval(extension, cluster, later(59)).removesFinalizers).toBe(false);
    expect(decideRemoval(extension, cluster, later(61)).removesFinalizers).toBe(true);
  });
});
