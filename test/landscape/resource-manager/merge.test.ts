import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../client/client.ts';
import { injectLabels, type MergeOptions, mergeObject } from './merge.ts';

const options = (parts: Partial<MergeOptions> = {}): MergeOptions => ({
  origin: 'shoot--foo--bar/x',
  old: {},
  forceOverwriteLabels: false,
  forceOverwriteAnnotations: false,
  scaled: false,
  ...parts,
});

const object = (kind: string, spec?: object, metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: ['Deployment', 'StatefulSet'].includes(kind) ? 'apps/v1' : 'v1',
  kind,
  metadata: { name: 'x', namespace: 'kube-system', ...metadata },
  ...(spec && { spec }),
});

describe('metadata', () => {
  const live = object('ConfigMap', undefined, {
    resourceVersion: '7',
    finalizers: ['hold'],
    labels: { ours: '1', dropped: '1', changed: 'by another controller', theirs: '1' },
  });
  const desired = object('ConfigMap', undefined, { labels: { ours: '2' } });
  const old = { labels: { ours: '1', dropped: '1', changed: '1' } };

  it('keeps labels and annotations of others, and removes its own former ones', () => {
    const merged = mergeObject(desired, live, options({ old }));
    expect(merged.metadata.labels).toEqual({ ours: '2', changed: 'by another controller', theirs: '1' });
    expect(merged.metadata).toMatchObject({ resourceVersion: '7', finalizers: ['hold'] });
  });

  it('owns all labels with forceOverwriteLabels', () => {
    const merged = mergeObject(desired, live, options({ old, forceOverwriteLabels: true }));
    expect(merged.metadata.labels).toEqual({ ours: '2' });
  });

  it('sets the origin, and drops references for the garbage collector', () => {
    const annotations = { 'reference.resources.gardener.cloud/secret-1': 'gone' };
    const merged = mergeObject(desired, { ...live, metadata: { ...live.metadata, annotations } }, options());
    expect(Object.keys(merged.metadata.annotations ?? {}).sort()).toEqual([
      'resources.gardener.cloud/description',
      'resources.gardener.cloud/origin',
    ]);
    expect(merged.metadata.annotations?.['resources.gardener.cloud/origin']).toBe('shoot--foo--bar/x');
  });
});

describe('keeps of the live object', () => {
  const deployment = (replicas: number | undefined, annotations = {}) =>
    object('Deployment', { replicas, template: { metadata: { annotations }, spec: { containers: [] } } });

  it('the replicas when none are desired, or when an autoscaler scales it', () => {
    const spec = (desired: number | undefined, parts = {}) =>
      mergeObject(deployment(desired), deployment(3), options(parts)).spec;
    expect(spec(undefined)).toMatchObject({ replicas: 3 });
    expect(spec(1, { scaled: true })).toMatchObject({ replicas: 3 });
    expect(spec(1)).toMatchObject({ replicas: 1 });
  });

  it('the time of a restart', () => {
    const restarted = { 'kubectl.kubernetes.io/restartedAt': 'now' };
    expect(mergeObject(deployment(1), deployment(1, restarted), options()).spec).toMatchObject({
      template: { metadata: { annotations: restarted } },
    });
  });

  it('the address of a Service, and its node ports', () => {
    const live = object('Service', { type: 'NodePort', clusterIP: '10.0.0.7', ports: [{ port: 80, nodePort: 30080 }] });
    const desired = object('Service', { type: 'NodePort', ports: [{ port: 80 }] });
    expect(mergeObject(desired, live, options()).spec).toMatchObject({
      clusterIP: '10.0.0.7',
      ports: [{ port: 80, nodePort: 30080 }],
    });
  });

  it('the status, and replaces everything else, also suspend', () => {
    const live = { ...object('Kustomization', { suspend: true, path: './' }), status: { ready: true } };
    const merged = mergeObject(object('Kustomization', { path: './apps' }), live, options());
    expect(merged).toMatchObject({ spec: { path: './apps' }, status: { ready: true } });
    expect(merged.spec).not.toHaveProperty('suspend');
  });
});

it('injects labels into pod templates, too', () => {
  const injected = injectLabels(object('Deployment', { template: { metadata: { labels: { app: 'x' } } } }), { a: 'b' });
  expect(injected).toMatchObject({
    metadata: { labels: { a: 'b' } },
    spec: { template: { metadata: { labels: { app: 'x', a: 'b' } } } },
  });
});
