import { expect, it } from 'vitest';
import type { KubeObject } from '../client/client.ts';
import { injectLabels, type MergeOptions, mergeObject } from './merge.ts';

const merge = (desired: KubeObject, live: KubeObject, old: MergeOptions['old'] = {}) =>
  mergeObject(desired, live, { origin: 'shoot--foo--bar/x', old });

const object = (kind: string, spec?: object, metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1',
  kind,
  metadata: { name: 'x', namespace: 'kube-system', ...metadata },
  ...(spec && { spec }),
});

it('sets the origin, keeps labels and annotations of others, and removes its own former ones', () => {
  const live = object('ConfigMap', undefined, {
    resourceVersion: '7',
    finalizers: ['hold'],
    labels: { ours: '1', dropped: '1', changed: 'by another controller', theirs: '1' },
  });
  const old = { labels: { ours: '1', dropped: '1', changed: '1' } };
  const { metadata } = merge(object('ConfigMap', undefined, { labels: { ours: '2' } }), live, old);
  expect(metadata.labels).toEqual({ ours: '2', changed: 'by another controller', theirs: '1' });
  expect(metadata).toMatchObject({ resourceVersion: '7', finalizers: ['hold'] });
  expect(metadata.annotations?.['resources.gardener.cloud/origin']).toBe('shoot--foo--bar/x');
});

const deployment = (replicas: number | undefined, annotations = {}) =>
  object('Deployment', { replicas, template: { metadata: { annotations }, spec: { containers: [] } } });
const restarted = { 'kubectl.kubernetes.io/restartedAt': 'now' };

it.each([
  ['the replicas when none are desired', deployment(undefined), deployment(3), { replicas: 3 }],
  ['no replicas when some are', deployment(1), deployment(3), { replicas: 1 }],
  [
    'the time of a restart',
    deployment(1),
    deployment(1, restarted),
    { template: { metadata: { annotations: restarted } } },
  ],
  [
    'the address of a Service',
    object('Service', {}),
    object('Service', { clusterIP: '10.0.0.7' }),
    { clusterIP: '10.0.0.7' },
  ],
])('keeps of the live object %s', (_, desired, live, spec) => {
  expect(merge(desired, live).spec).toMatchObject(spec);
});

it('keeps the status, and replaces everything else, also suspend', () => {
  const live = { ...object('Kustomization', { suspend: true, path: './' }), status: { ready: true } };
  const merged = merge(object('Kustomization', { path: './apps' }), live);
  expect(merged).toMatchObject({ spec: { path: './apps' }, status: { ready: true } });
  expect(merged.spec).not.toHaveProperty('suspend');
});

it('injects labels into pod templates, too', () => {
  const injected = injectLabels(object('Deployment', { template: { metadata: { labels: { app: 'x' } } } }), { a: 'b' });
  expect(injected).toMatchObject({
    metadata: { labels: { a: 'b' } },
    spec: { template: { metadata: { labels: { app: 'x', a: 'b' } } } },
  });
});
