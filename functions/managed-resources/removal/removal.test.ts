import { describe, expect, it } from 'vitest';
import { appliedFactory, clusterFactory, extensionFactory } from '../../../shared/gardener/testing.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import { cleanUpLookSeconds, removal } from './removal.ts';

const deletionTimestamp = '2026-01-02T03:04:05Z';
const later = (seconds: number) => new Date(Date.parse(deletionTimestamp) + seconds * 1000);
const bootstrapped = { at: '2026-01-01T00:00:00Z', fluxVersion: 'v2.9.4', configHash: 'c0ffee' };
const leaving = (applied: Partial<Applied>, isBootstrapped = true) =>
  extensionFactory({
    metadata: { deletionTimestamp },
    status: { state: { applied: appliedFactory(applied), ...(isBootstrapped ? { bootstrapped } : {}) } },
  });

describe('what becomes of Flux', () => {
  it.each([
    ['Once', undefined, true, 'stays'],
    ['Once', undefined, false, 'goes'],
    ['Once', 'Uninstall', true, 'goes'],
    ['ManifestsOnly', undefined, true, 'stays'],
    ['ManifestsOnly', undefined, false, 'goes'],
    ['Reconcile', undefined, true, 'goes'],
    ['Reconcile', 'Orphan', true, 'stays'],
    ['Reconcile', 'Orphan', false, 'stays'],
  ] as const)('mode %s, policy %s, first success %s: it %s', (syncMode, deletionPolicy, isBootstrapped, expected) => {
    const extension = leaving({ syncMode, ...(deletionPolicy && { deletionPolicy }) }, isBootstrapped);
    const { uninstall } = removal(extension, clusterFactory(), later(1));
    expect(uninstall === undefined ? 'stays' : 'goes').toBe(expected);
  });

  it('without a record there is nothing to remove', () => {
    expect(removal(extensionFactory({ metadata: { deletionTimestamp } }), clusterFactory(), later(1))).toEqual({
      isOverdue: false,
      stripFinalizers: false,
    });
  });

  const uninstalled = leaving({ deletionPolicy: 'Uninstall' });

  it('trap 18: a Shoot that is being deleted has no nodes any more', () => {
    const cluster = clusterFactory({ metadata: { deletionTimestamp } });
    expect(removal(uninstalled, cluster, later(1))).toEqual({ isOverdue: false, stripFinalizers: false });
  });

  it('trap 17: a hibernated Shoot keeps it, and says so', () => {
    const cluster = clusterFactory({ spec: { hibernation: { enabled: true } }, status: { hibernated: true } });
    expect(removal(uninstalled, cluster, later(1))).toEqual({
      isOverdue: false,
      stripFinalizers: true,
      stays: 'The Shoot is hibernated, so Flux stays in it.',
    });
  });

  it('a Shoot that is about to be hibernated keeps it, and what an earlier attempt has suspended goes on', () => {
    const cluster = clusterFactory({ spec: { hibernation: { enabled: true } } });
    expect(removal(uninstalled, cluster, later(1))).toEqual({
      isOverdue: false,
      stripFinalizers: false,
      stays: 'The Shoot is hibernated, so Flux stays in it.',
      resumes: 'may',
    });
  });

  it('trap 16: gardenlet waits three minutes; what cannot be removed in two stays, and that is said', () => {
    expect(removal(uninstalled, clusterFactory(), later(119)).uninstall).toBeDefined();
    expect(removal(uninstalled, clusterFactory(), later(121))).toEqual({
      isOverdue: true,
      stripFinalizers: true,
      stays: 'Flux could not be removed within 120 s; what is left of it stays.',
      resumes: 'must',
    });
    expect(removal(uninstalled, clusterFactory(), later(151))).toMatchObject({ resumes: 'may' });
  });
});

describe('a deletion that gardenlet repeats', () => {
  it('has its time again: the first one may have found us away, or the Shoot Failed', () => {
    const extension = leaving({ deletionPolicy: 'Uninstall' });
    extension.metadata.annotations = { 'gardener.cloud/timestamp': later(600).toISOString() };
    expect(removal(extension, clusterFactory(), later(700)).uninstall).toBeDefined();
    expect(removal(extension, clusterFactory(), later(721)).uninstall).toBeUndefined();
  });

  it('counts from the deletion where the timestamp is of the operation before', () => {
    const extension = leaving({ deletionPolicy: 'Uninstall' });
    extension.metadata.annotations = { 'gardener.cloud/timestamp': later(-600).toISOString() };
    expect(removal(extension, clusterFactory(), later(119)).uninstall).toBeDefined();
  });
});

describe("the resource-manager's finalizer", () => {
  it.each(['true', 'True', '1'])('is not waited for in a force deletion: "%s"', (value) => {
    const annotations = { 'confirmation.gardener.cloud/force-deletion': value };
    const cluster = clusterFactory({ metadata: { deletionTimestamp, annotations } });
    expect(removal(leaving({}), cluster, later(1)).stripFinalizers).toBe(true);
  });

  it('is waited for while the resource-manager may run', () => {
    const annotations = { 'confirmation.gardener.cloud/force-deletion': 'false' };
    const cluster = clusterFactory({ metadata: { annotations } });
    expect(removal(leaving({}), cluster, later(59)).stripFinalizers).toBe(false);
    expect(removal(leaving({}), cluster, later(61)).stripFinalizers).toBe(true);
  });

  it("in a migration its patience counts from gardenlet's timestamp", () => {
    const annotations = { 'gardener.cloud/operation': 'migrate', 'gardener.cloud/timestamp': deletionTimestamp };
    const extension = extensionFactory({ metadata: { annotations } });
    expect(removal(extension, clusterFactory(), later(59)).stripFinalizers).toBe(false);
    expect(removal(extension, clusterFactory(), later(61)).stripFinalizers).toBe(true);
  });
});

describe('looks at a Shoot that is being deleted', () => {
  it.each([
    [0, 10],
    [600, 100],
    [7200, 300],
  ])('after %i s: again in %i s', (seconds, expected) => {
    expect(cleanUpLookSeconds(clusterFactory({ metadata: { deletionTimestamp } }), later(seconds))).toBe(expected);
  });
});
