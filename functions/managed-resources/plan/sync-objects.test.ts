import { describe, expect, it } from 'vitest';
import { contentSecretName } from '../../../shared/gardener/managed-resource-content.ts';
import { managedResourceFactory } from '../../../shared/gardener/testing.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { objectRef } from '../shoot/objects.ts';
import {
  isComingBack,
  leavingObjects,
  planSyncObjects,
  resourceWithFormerContent,
  type SyncInputs,
  untilRemoved,
  withPendingRemoval,
} from './sync-objects.ts';

const object = (apiVersion: string, kind: string, name: string): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'flux-system' },
  spec: { interval: '1m' },
});
const kustomization = (name: string) => object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', name);
const source = (name: string) => object('source.toolkit.fluxcd.io/v1', 'GitRepository', name);
const suspend = (object: KubeObject) => ({ ...object, spec: { interval: '1m', suspend: true } });
const none = new Set<string>();

describe('withPendingRemoval', () => {
  it('changes nothing when no object is removed', () => {
    const next = [source('a'), kustomization('a')];
    expect(withPendingRemoval(next, next, none)).toEqual({ objects: next, pendingRemoval: [] });
  });

  it('keeps a removed Kustomization, suspended, and its source until the suspension is confirmed', () => {
    const previous = [source('old'), kustomization('old')];
    const next = [source('new'), kustomization('new')];
    expect(withPendingRemoval(next, previous, none)).toEqual({
      objects: [...next, source('old'), suspend(kustomization('old'))],
      pendingRemoval: previous.map(objectRef),
    });
  });

  it('suspends a removed HelmRelease', () => {
    const release = object('helm.toolkit.fluxcd.io/v2', 'HelmRelease', 'old');
    expect(withPendingRemoval([], [release], none).objects).toEqual([suspend(release)]);
  });

  it('drops a confirmed object', () => {
    const previous = [source('old'), suspend(kustomization('old'))];
    const confirmed = new Set(previous.map(objectRef));
    expect(withPendingRemoval([], previous, confirmed)).toEqual({ objects: [], pendingRemoval: [] });
  });

  it('keeps a confirmed object while another one is not confirmed', () => {
    const previous = [suspend(kustomization('one')), kustomization('two')];
    const confirmed = new Set([objectRef(kustomization('one'))]);
    expect(withPendingRemoval([], previous, confirmed).objects).toEqual([
      suspend(kustomization('one')),
      suspend(kustomization('two')),
    ]);
  });

  it('drops a source at once when no Kustomization is removed: deleting it prunes nothing', () => {
    expect(withPendingRemoval([kustomization('a')], [source('old'), kustomization('a')], none)).toEqual({
      objects: [kustomization('a')],
      pendingRemoval: [],
    });
  });
});

describe('untilRemoved', () => {
  const former = ['Kustomization.kustomize.toolkit.fluxcd.io/flux-system/old'];
  const dropped = { objects: [kustomization('new')], pendingRemoval: [] };

  it('keeps a dropped object pending until the content without it is in the shoot', () => {
    expect(untilRemoved(dropped, former, false)).toEqual({ ...dropped, pendingRemoval: former });
    expect(untilRemoved(dropped, former, true)).toEqual(dropped);
  });

  it('adds the objects that are removed now', () => {
    const other = objectRef(kustomization('other'));
    expect(untilRemoved({ objects: [], pendingRemoval: [other] }, former, false).pendingRemoval).toEqual([
      other,
      ...former,
    ]);
  });

  it('drops an object that the configuration asks for again', () => {
    const set = { objects: [kustomization('old')], pendingRemoval: [] };
    expect(untilRemoved(set, former, false)).toEqual(set);
  });
});

describe('isComingBack', () => {
  const former = [objectRef(kustomization('old'))];

  it('is true for an object that the configuration asks for again after it was dropped', () => {
    expect(isComingBack([kustomization('old')], [kustomization('new')], former)).toBe(true);
  });

  it('is false for an object that is only suspended so far, or that the configuration does not ask for again', () => {
    expect(isComingBack([kustomization('old')], [suspend(kustomization('old'))], former)).toBe(false);
    expect(isComingBack([kustomization('newest')], [kustomization('new')], former)).toBe(false);
  });
});

describe('planSyncObjects', () => {
  const next = [kustomization('new')];
  const SYNC = 'shoot-flux-sync';
  const liveWith = (content: KubeObject[], isApplied = true) =>
    managedResourceFactory(SYNC, contentSecretName(SYNC, content), isApplied ? {} : { status: {} });
  const inputs = (parts: Partial<SyncInputs> = {}): SyncInputs => ({
    next,
    live: liveWith(next),
    former: undefined,
    isInScope: true,
    recorded: [],
    confirmed: none,
    ...parts,
  });

  it.each([
    ['out of scope', { isInScope: false }],
    ['without a ManagedResource', { live: undefined }],
    ['when the ManagedResource holds them already', {}],
  ])('plans the next objects %s', (_, parts) => {
    expect(resourceWithFormerContent(inputs(parts))).toBeUndefined();
    expect(planSyncObjects(inputs(parts))).toEqual({ objects: next, pendingRemoval: [] });
  });

  it('asks for the former content of a ManagedResource that holds other objects, and suspends these first', () => {
    const live = liveWith([kustomization('old')]);
    expect(resourceWithFormerContent(inputs({ live }))).toBe(live);
    expect(planSyncObjects(inputs({ live, former: [kustomization('old')] }))).toEqual({
      objects: [...next, suspend(kustomization('old'))],
      pendingRemoval: [objectRef(kustomization('old'))],
    });
  });

  it('drops a suspended object only when it was seen suspended in the shoot itself', () => {
    const old = suspend(kustomization('old'));
    const former = [...next, old];
    const synced = { live: liveWith(former), former };
    expect(leavingObjects(inputs(synced))).toEqual([old]);
    expect(planSyncObjects(inputs(synced))).toEqual({ objects: former, pendingRemoval: [objectRef(old)] });
    const confirmed = new Set([objectRef(old)]);
    // Dropped, and pending until the content without it is applied.
    expect(planSyncObjects(inputs({ ...synced, confirmed, recorded: [objectRef(old)] }))).toEqual({
      objects: next,
      pendingRemoval: [objectRef(old)],
    });
  });

  it('asks the shoot about nothing before the suspension is applied', () => {
    const former = [...next, suspend(kustomization('old'))];
    expect(leavingObjects(inputs({ live: liveWith(former, false), former }))).toEqual([]);
    expect(leavingObjects(inputs({ live: liveWith([kustomization('old')]), former: [kustomization('old')] }))).toEqual(
      [],
    );
  });

  it('takes the keys that steer the resource-manager from an object that leaves', () => {
    const keys = { 'resources.gardener.cloud/ignore': 'true', 'gardener.cloud/x': '1', mine: 'stays' };
    const old = kustomization('old');
    const steered = { ...old, metadata: { ...old.metadata, annotations: keys, labels: keys } };
    const { objects } = planSyncObjects(inputs({ live: liveWith([steered]), former: [steered] }));
    expect(objects.at(-1)?.metadata).toMatchObject({ annotations: { mine: 'stays' }, labels: { mine: 'stays' } });
    expect(JSON.stringify(objects)).not.toContain('gardener.cloud/');
  });

  it('keeps the former objects while an object of the next ones is still being removed', () => {
    const former = [kustomization('other')];
    const recorded = [objectRef(kustomization('new'))];
    expect(planSyncObjects(inputs({ live: liveWith(former, false), former, recorded }))).toEqual({
      objects: former,
      pendingRemoval: recorded,
    });
  });
});
