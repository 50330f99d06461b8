import { expect, it } from 'vitest';
import { contentSecretName } from '../../../shared/gardener/managed-resource.ts';
import { managedResourceFactory } from '../../../shared/gardener/testing.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { objectRef } from '../shoot/objects.ts';
import { leavingObjects, planSyncObjects, resourceWithFormerContent, type SyncInputs } from './plan.ts';

const object = (apiVersion: string, kind: string, name: string): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'flux-system' },
  spec: { interval: '1m' },
});
const kustomization = (name: string) => object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', name);
const source = (name: string) => object('source.toolkit.fluxcd.io/v1', 'GitRepository', name);
const suspend = (object: KubeObject) => ({ ...object, spec: { interval: '1m', suspend: true } });
const refs = (...objects: KubeObject[]) => objects.map(objectRef);

const SYNC = 'shoot-flux-sync';
const next = [kustomization('new')];
const liveWith = (content: KubeObject[], isApplied = true) =>
  managedResourceFactory(SYNC, contentSecretName(SYNC, content), isApplied ? {} : { status: {} });

/** The ManagedResource holds the former objects; undefined: the next ones. */
function inputs(
  former: KubeObject[] | undefined,
  parts: Partial<SyncInputs> & { isApplied?: boolean } = {},
): SyncInputs {
  const { isApplied = true, ...others } = parts;
  const live = liveWith(former ?? next, isApplied);
  return { ...{ next, live, former, recorded: [], confirmed: new Set<string>() }, ...others };
}

it.each([
  ['without a ManagedResource in scope', { live: undefined }],
  ['when the ManagedResource holds them already', {}],
  ['once the content without a dropped object is in the shoot', { recorded: refs(kustomization('old')) }],
])('plans the next objects %s', (_, parts) => {
  expect(resourceWithFormerContent(inputs(undefined, parts))).toBeUndefined();
  expect(planSyncObjects(inputs(undefined, parts))).toEqual({ objects: next, pendingRemoval: [] });
});

it('suspends a removed Kustomization or HelmRelease first, and keeps the source until that is confirmed', () => {
  const release = object('helm.toolkit.fluxcd.io/v2', 'HelmRelease', 'old');
  const former = [source('old'), kustomization('old'), release];
  const asked = inputs(former);
  expect(resourceWithFormerContent(asked)).toBe(asked.live);
  expect(planSyncObjects(asked)).toEqual({
    objects: [...next, source('old'), suspend(kustomization('old')), suspend(release)],
    pendingRemoval: refs(...former),
  });
});

it('drops a source at once when no Kustomization is removed: deleting it prunes nothing', () => {
  expect(planSyncObjects(inputs([source('old'), ...next]))).toEqual({ objects: next, pendingRemoval: [] });
});

it('drops a suspended object only when it was seen suspended in the shoot itself', () => {
  const old = suspend(kustomization('old'));
  const former = [...next, old];
  expect(leavingObjects(inputs(former))).toEqual([old]);
  expect(planSyncObjects(inputs(former))).toEqual({ objects: former, pendingRemoval: refs(old) });
  const confirmed = new Set(refs(old));
  // Dropped, and pending until the content without it is applied.
  const dropped = { objects: next, pendingRemoval: refs(old) };
  expect(planSyncObjects(inputs(former, { confirmed, recorded: refs(old) }))).toEqual(dropped);
  expect(planSyncObjects(inputs(undefined, { recorded: refs(old), isApplied: false }))).toEqual(dropped);
});

it('keeps a confirmed object while another one is not confirmed', () => {
  const former = [suspend(kustomization('one')), kustomization('two')];
  const confirmed = new Set(refs(kustomization('one')));
  const both = [suspend(kustomization('one')), suspend(kustomization('two'))];
  expect(planSyncObjects(inputs(former, { confirmed })).objects).toEqual([...next, ...both]);
});

it('asks the shoot about nothing before the suspension is applied', () => {
  const suspended = [...next, suspend(kustomization('old'))];
  expect(leavingObjects(inputs(suspended, { isApplied: false }))).toEqual([]);
  expect(leavingObjects(inputs([kustomization('old')]))).toEqual([]);
});

it('keeps what was dropped before pending beside what is removed now', () => {
  const former = [kustomization('other')];
  const recorded = refs(kustomization('old'));
  const { pendingRemoval } = planSyncObjects(inputs(former, { recorded, isApplied: false }));
  expect(pendingRemoval).toEqual([...refs(kustomization('other')), ...recorded]);
});

it('takes the keys that steer the resource-manager from an object that leaves', () => {
  const keys = { 'resources.gardener.cloud/ignore': 'true', 'gardener.cloud/x': '1', mine: 'stays' };
  const old = kustomization('old');
  const steered = { ...old, metadata: { ...old.metadata, annotations: keys, labels: keys } };
  const { objects } = planSyncObjects(inputs([steered]));
  expect(objects.at(-1)?.metadata).toMatchObject({ annotations: { mine: 'stays' }, labels: { mine: 'stays' } });
  expect(JSON.stringify(objects)).not.toContain('gardener.cloud/');
});

it('keeps the former objects while an object of the next ones is still being removed', () => {
  const former = [kustomization('other')];
  const recorded = refs(kustomization('new'));
  const asked = inputs(former, { recorded, isApplied: false });
  expect(planSyncObjects(asked)).toEqual({ objects: former, pendingRemoval: recorded });
});

it('plans an object that the configuration asks for again while it is only suspended so far', () => {
  const former = [suspend(kustomization('new'))];
  const asked = inputs(former, { recorded: refs(kustomization('new')), isApplied: false });
  expect(planSyncObjects(asked)).toEqual({ objects: next, pendingRemoval: [] });
});
