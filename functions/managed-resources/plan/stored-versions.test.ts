import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory, managedResourceFactory } from '../../../shared/gardener/testing.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { mayDropVersions, migratedFields, migrationOf, outlineOf, widenedVersions } from './stored-versions.ts';

/** The first version is the stored one. */
const crd = ([storage = '', ...others]: string[], storedVersions: string[] = [storage]): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ocirepositories.source.toolkit.fluxcd.io' },
  spec: {
    versions: [storage, ...others].map((name) => ({ name, served: true, storage: name === storage, schema: name })),
  },
  status: { storedVersions },
});

describe('migrationOf', () => {
  const both = crd(['v1', 'v1beta2'], ['v1beta2', 'v1']);

  it('is nothing where the release has all versions', () => {
    expect(migrationOf(both, crd(['v1', 'v1beta2']))).toBeUndefined();
    expect(migrationOf(crd(['v1beta2']), crd(['v1', 'v1beta2']))).toBeUndefined();
  });

  it('rewrites the objects where a version is dropped in which some may be stored', () => {
    expect(migrationOf(both, crd(['v1']))).toMatchObject({ to: 'v1', isNarrow: false, isStored: true });
  });

  it('only looks for managed fields where the dropped version was never stored', () => {
    expect(migrationOf(crd(['v1', 'v1beta2']), crd(['v1']))).toMatchObject({ to: 'v1', isStored: false });
  });

  it('adds the version of the release where the stored one is dropped, and keeps those of the running controllers', () => {
    const [live, next] = [crd(['v1beta2', 'v1beta1']), crd(['v1'])];
    expect(migrationOf(live, next)).toMatchObject({ to: 'v1', isNarrow: true, isStored: true, kept: ['v1'] });
    expect(widenedVersions(live, next)).toEqual([
      { name: 'v1beta2', served: true, storage: false, schema: 'v1beta2' },
      { name: 'v1beta1', served: true, storage: false, schema: 'v1beta1' },
      { name: 'v1', served: true, storage: true, schema: 'v1' },
    ]);
  });

  it('continues after a kill where the CRD is wider already', () => {
    expect(widenedVersions(both, crd(['v1']))).toBeUndefined();
  });

  it('leads back when the former release is asked for before the new one was installed', () => {
    expect(migrationOf(both, crd(['v1beta2']))).toMatchObject({ to: 'v1beta2', isStored: true });
    const versions = widenedVersions(both, crd(['v1beta2']));
    expect(versions).toMatchObject([
      { name: 'v1', storage: false },
      { name: 'v1beta2', storage: true },
    ]);
  });

  it('leaves a CRD alone that is being deleted, or that has no versions', () => {
    const live = crd(['v1beta2']);
    const metadata = { ...live.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' };
    expect(migrationOf({ ...live, metadata }, crd(['v1']))).toBeUndefined();
    expect(migrationOf({ ...live, spec: { versions: 'odd' } }, crd(['v1']))).toBeUndefined();
  });
});

it('outlineOf keeps no schema of a CRD and no names of its fields, and is migrated like the CRD', () => {
  const fieldsV1 = { 'f:spec': {} };
  const entry = { manager: 'flux', operation: 'Update', time: '2026-01-02T03:04:05Z', fieldsV1 };
  const live = crd(['v1beta2', 'v1beta1']);
  const outline = outlineOf({ ...live, metadata: { ...live.metadata, managedFields: [entry] } });
  expect(JSON.stringify(outline)).not.toMatch(/schema|fieldsV1/);
  expect(migrationOf(outline, crd(['v1']))).toMatchObject({ to: 'v1', isNarrow: true, kept: ['v1'] });
  expect(outline.metadata.managedFields).toMatchObject([{ manager: 'flux', time: '2026-01-02T03:04:05Z' }]);
});

describe('migratedFields', () => {
  const group = 'source.toolkit.fluxcd.io';
  const versions = { kept: ['v1'], to: 'v1' };
  const entry = (manager: string, version: string, fieldsV1: Record<string, unknown>, operation = 'Update') => ({
    ...{ manager, operation, apiVersion: `${group}/${version}`, fieldsV1 },
  });

  it('names the stored version instead of one that is dropped', () => {
    const fields = [entry('flux', 'v1beta2', { a: {} }, 'Apply'), entry('kubectl', 'v1', { b: {} })];
    expect(migratedFields(fields, versions)).toEqual([entry('flux', 'v1', { a: {} }, 'Apply'), fields[1]]);
  });

  it('changes nothing where no version is dropped', () => {
    expect(migratedFields([entry('flux', 'v1', {})], versions)).toBeUndefined();
    expect(migratedFields(undefined, versions)).toBeUndefined();
  });

  it('joins entries of one writer that become the same, with the fields of both', () => {
    const fields = [
      entry('gotk', 'v1beta2', { 'f:spec': { 'f:url': {} } }),
      entry('gotk', 'v1', { 'f:spec': { 'f:ref': { '.': {} } } }),
    ];
    expect(migratedFields(fields, versions)).toEqual([
      entry('gotk', 'v1', { 'f:spec': { 'f:url': {}, 'f:ref': { '.': {} } } }),
    ]);
  });
});

describe('mayDropVersions', () => {
  const crds = 'shoot-flux-crds';
  const record = appliedFactory({ managedResources: { [crds]: 'new' }, fluxVersion: 'v2.9.4' });
  const plan = { record, contents: new Map([[crds, []]]) };
  const live = (content: string, parts = {}) => new Map([[crds, managedResourceFactory(crds, content, parts)]]);
  const former = (parts: Partial<Applied>) => appliedFactory({ managedResources: { [crds]: 'old' }, ...parts });
  const older = former({ fluxVersion: 'v2.8.8', installed: 'v2.8.8' });
  const same = former({ fluxVersion: 'v2.9.4', installed: 'v2.9.4' });
  const message = 'status.storedVersions[0]: Invalid value: "v1beta2": missing from spec.versions';
  const rejected = { observedGeneration: 2, conditions: [conditionFactory({ status: 'False', message })] };
  const none = new Map<string, ManagedResource>();

  it.each<[string, Applied | undefined, Map<string, ManagedResource>, (string | undefined)?, string?]>([
    ['before another release is delivered', older, live('old')],
    ['until the CRDs are written, with the release on record', { ...same, installed: 'v2.8.8' }, live('old')],
    ['where a component is added', { ...same, components: [] }, live('old')],
    ['where Flux is adopted', undefined, none, 'v2.6.4'],
    ['where Flux is adopted again', older, none, 'v2.9.4'],
    ['where the shoot has rejected the CRDs for what it stores', older, live('new', { status: rejected })],
    ['where an upgrade has begun', same, live('new'), undefined, 'v2.9.5'],
    ['where it was taken back', { ...same, fluxVersion: 'v2.9.5' }, live('new')],
  ])('asks the shoot %s', (_, previous, there, liveVersion, upgradingTo) => {
    expect(mayDropVersions(plan, { previous, live: there }, liveVersion, upgradingTo)).toBe(true);
  });

  it.each<[string, Applied | undefined, Map<string, ManagedResource>]>([
    ['in a Shoot that has no Flux', undefined, none],
    ['where the CRDs are written', older, live('new')],
    ['for other content of the same release', same, live('old')],
  ])('asks nothing %s', (_, previous, there) => {
    expect(mayDropVersions(plan, { previous, live: there }, undefined, undefined)).toBe(false);
  });

  it('asks nothing where CRDs do not follow the configuration', () => {
    const without = { record: appliedFactory(), contents: new Map() };
    expect(mayDropVersions(without, { previous: older, live: none }, 'v2.6.4', undefined)).toBe(false);
  });
});
