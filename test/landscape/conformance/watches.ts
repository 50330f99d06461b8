import { expect } from 'vitest';
import type { WatchEvent } from './client.ts';
import { configMap, type Place, type Test } from './context.ts';

const short = ({ type, object }: WatchEvent) => [type, object.metadata.name];

/** Returns the version to watch the ConfigMaps from. */
async function versionOf({ client, configMaps }: Place): Promise<string> {
  return (await client.get(configMaps)).body.metadata.resourceVersion;
}

/** Tests of watches. */
export function watchTests(test: Test): void {
  test('sends every change after the resourceVersion in order', async (place) => {
    const { client, configMaps } = place;
    await client.post(configMaps, configMap('before'));
    const resourceVersion = await versionOf(place);
    await client.post(configMaps, configMap('a'));
    using watch = client.watch(configMaps, { resourceVersion });
    expect(short(await watch.next())).toEqual(['ADDED', 'a']);
    const { body: changed } = await client.mergePatch(`${configMaps}/a`, { data: { k: 'v' } });
    expect(await watch.next()).toEqual({ type: 'MODIFIED', object: changed });
    await client.delete(`${configMaps}/a`);
    const gone = await watch.next();
    expect(short(gone)).toEqual(['DELETED', 'a']);
    // The deletion has its own version: a watch can continue from it.
    expect(Number(gone.object.metadata.resourceVersion)).toBeGreaterThan(Number(changed.metadata.resourceVersion));
  });

  test('sends ADDED or DELETED when an object begins or ceases to match', async (place) => {
    const { client, configMaps } = place;
    using watch = client.watch(configMaps, { resourceVersion: await versionOf(place), labelSelector: 'l=1' });
    const patch = (body: object) => client.mergePatch(`${configMaps}/a`, body);
    const label = (l: string) => patch({ metadata: { labels: { l } } });
    await client.post(configMaps, configMap('a'));
    const { body: matching } = await label('1');
    expect(await watch.next()).toEqual({ type: 'ADDED', object: matching });
    await patch({ data: { k: 'v' } });
    expect(short(await watch.next())).toEqual(['MODIFIED', 'a']);
    const { body: other } = await label('2');
    // It is sent in its last matching state, at the version of the change.
    const { resourceVersion } = other.metadata;
    const metadata = { labels: { l: '1' }, resourceVersion };
    expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { metadata } });
    await patch({ data: { k: 'w' } });
    await label('1');
    expect(short(await watch.next())).toEqual(['ADDED', 'a']);
  });

  test('watches by field selector, and all namespaces', async (place) => {
    const { client, configMaps, namespace } = place;
    const resourceVersion = await versionOf(place);
    using selected = client.watch(configMaps, { resourceVersion, fieldSelector: 'metadata.name=b' });
    using all = client.watch('/api/v1/configmaps', { resourceVersion, labelSelector: `only=${namespace}` });
    await client.post(configMaps, configMap('a', {}, { labels: { only: namespace } }));
    await client.post(configMaps, configMap('b'));
    expect(short(await selected.next())).toEqual(['ADDED', 'b']);
    expect(short(await all.next())).toEqual(['ADDED', 'a']);
  });

  test('ends a watch after its time, with a bookmark before', async (place) => {
    const { client, configMaps } = place;
    const resourceVersion = await versionOf(place);
    const begun = Date.now();
    using watch = client.watch(configMaps, { resourceVersion, timeoutSeconds: '6', allowWatchBookmarks: 'true' });
    // The watch does not send this change: the bookmark continues after it.
    const elsewhere = await client.post('/api/v1/namespaces/default/configmaps', configMap(place.namespace));
    const events = await watch.rest();
    expect(Date.now() - begun).toBeGreaterThan(5_000);
    const last = events.at(-1);
    expect(last).toMatchObject({ type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1' } });
    const { resourceVersion: reached } = last?.object.metadata ?? {};
    expect(Number(reached)).toBeGreaterThanOrEqual(Number(elsewhere.body.metadata.resourceVersion));
  });

  test('sends 410 as an event for a version before the history', async ({ client, things }) => {
    using watch = client.watch(things, { resourceVersion: '1' });
    expect(await watch.next()).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 },
    });
    expect(await watch.rest()).toEqual([]);
  });
}
