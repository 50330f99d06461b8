import { expect, test } from 'vitest';
import type { WatchEvent } from './client.ts';
import { type Context, configMap } from './context.ts';

const short = ({ type, object }: WatchEvent) => [type, object.metadata.name];

/** Tests of watches. */
export function watchTests(context: () => Context): void {
  test('sends every change after the resourceVersion in order', async () => {
    const { client } = context();
    const path = await context().configMaps();
    await client.post(path, configMap('before'));
    const { resourceVersion } = (await client.get(path)).body.metadata;
    await client.post(path, configMap('a'));
    using watch = client.watch(path, { resourceVersion });
    expect(short(await watch.next())).toEqual(['ADDED', 'a']);
    const { body: changed } = await client.mergePatch(`${path}/a`, { data: { k: 'v' } });
    expect(await watch.next()).toEqual({ type: 'MODIFIED', object: changed });
    await client.delete(`${path}/a`);
    const gone = await watch.next();
    expect(short(gone)).toEqual(['DELETED', 'a']);
    // The deletion has its own version: a watch can continue from it.
    expect(Number(gone.object.metadata.resourceVersion)).toBeGreaterThan(Number(changed.metadata.resourceVersion));
  });

  test.each([{}, { resourceVersion: '0' }])('without a version (%o) the present comes first', async (query) => {
    const { client } = context();
    const path = await context().configMaps();
    await client.post(path, configMap('a'));
    await client.post(path, configMap('b'));
    using watch = client.watch(path, query);
    const first = [short(await watch.next()), short(await watch.next())].sort();
    expect(first).toEqual([
      ['ADDED', 'a'],
      ['ADDED', 'b'],
    ]);
    await client.delete(`${path}/b`);
    expect(short(await watch.next())).toEqual(['DELETED', 'b']);
  });

  test('sends ADDED or DELETED when an object begins or ceases to match', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const { resourceVersion } = (await client.get(path)).body.metadata;
    using watch = client.watch(path, { resourceVersion, labelSelector: 'l=1' });
    await client.post(path, configMap('a'));
    const { body: matching } = await client.mergePatch(`${path}/a`, { metadata: { labels: { l: '1' } } });
    expect(await watch.next()).toEqual({ type: 'ADDED', object: matching });
    await client.mergePatch(`${path}/a`, { data: { k: 'v' } });
    expect(short(await watch.next())).toEqual(['MODIFIED', 'a']);
    const { body: other } = await client.mergePatch(`${path}/a`, { metadata: { labels: { l: '2' } } });
    const left = await watch.next();
    // It is sent in its last matching state, at the version of the change.
    expect(left).toMatchObject({
      type: 'DELETED',
      object: { metadata: { labels: { l: '1' }, resourceVersion: other.metadata.resourceVersion } },
    });
    await client.mergePatch(`${path}/a`, { data: { k: 'w' } });
    await client.mergePatch(`${path}/a`, { metadata: { labels: { l: '1' } } });
    expect(short(await watch.next())).toEqual(['ADDED', 'a']);
  });

  test('watches by field selector, and by name in the path', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const { resourceVersion } = (await client.get(path)).body.metadata;
    using selected = client.watch(path, { resourceVersion, fieldSelector: 'metadata.name=b' });
    await client.post(path, configMap('a'));
    await client.post(path, configMap('b'));
    expect(short(await selected.next())).toEqual(['ADDED', 'b']);
  });

  test('watches all namespaces', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const { resourceVersion } = (await client.get(path)).body.metadata;
    const { body } = await client.post(path, configMap('a', {}, { labels: { only: path.split('/')[4] ?? '' } }));
    const labelSelector = `only=${body.metadata.namespace}`;
    using watch = client.watch('/api/v1/configmaps', { resourceVersion, labelSelector });
    expect(short(await watch.next())).toEqual(['ADDED', 'a']);
  });

  test('sends only metadata on request', async () => {
    const { client } = context();
    const path = await context().configMaps();
    await client.post(path, configMap('a', { secret: 'x' }));
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    using watch = client.watch(path, {}, { accept });
    const { object } = await watch.next();
    expect(object).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a' },
    });
    expect(object.data).toBeUndefined();
  });

  test('ends a watch after its time, with a bookmark before', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const { resourceVersion } = (await client.get(path)).body.metadata;
    const begun = Date.now();
    using watch = client.watch(path, { resourceVersion, timeoutSeconds: '6', allowWatchBookmarks: 'true' });
    // The watch does not send this change: the bookmark continues after it.
    const elsewhere = await client.post(await context().configMaps(), configMap('a'));
    const events = await watch.rest();
    expect(Date.now() - begun).toBeGreaterThan(5_000);
    expect(events.map(({ type }) => type)).toContain('BOOKMARK');
    const last = events.at(-1);
    expect(last).toMatchObject({ type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1' } });
    const { resourceVersion: reached } = last?.object.metadata ?? {};
    expect(Number(reached)).toBeGreaterThanOrEqual(Number(elsewhere.body.metadata.resourceVersion));
  });

  test('sends no bookmarks unless requested', async () => {
    const path = await context().configMaps();
    const { resourceVersion } = (await context().client.get(path)).body.metadata;
    using watch = context().client.watch(path, { resourceVersion, timeoutSeconds: '3' });
    expect(await watch.rest()).toEqual([]);
  });

  test('sends 410 as an event for a version before the history', async () => {
    const path = await context().things();
    using watch = context().client.watch(path, { resourceVersion: '1' });
    expect(await watch.next()).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 },
    });
    expect(await watch.rest()).toEqual([]);
  });

  test('sends custom resources in another version than the stored one', async () => {
    const { client, group } = context();
    const path = await context().things();
    await client.post(path, context().thing('a', { size: 1 }));
    using watch = client.watch(path.replace('/v1/', '/v1beta1/'));
    expect(await watch.next()).toMatchObject({
      type: 'ADDED',
      object: { apiVersion: `${group}/v1beta1`, kind: 'Thing', metadata: { name: 'a' } },
    });
  });

  test('sends changes of finalizers, and the deletion after the last one', async () => {
    const { client } = context();
    const path = await context().configMaps();
    await client.post(path, configMap('a', {}, { finalizers: ['example.com/f'] }));
    const { resourceVersion } = (await client.get(path)).body.metadata;
    using watch = client.watch(path, { resourceVersion });
    await client.delete(`${path}/a`);
    expect(await watch.next()).toMatchObject({
      type: 'MODIFIED',
      object: { metadata: { deletionTimestamp: expect.any(String) } },
    });
    await client.mergePatch(`${path}/a`, { metadata: { finalizers: null } });
    expect(short(await watch.next())).toEqual(['DELETED', 'a']);
  });
}
