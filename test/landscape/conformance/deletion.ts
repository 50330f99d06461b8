import { expect, test } from 'vitest';
import type { Body } from './client.ts';
import { type Context, configMap } from './context.ts';

/** Tests of deletion, finalizers and collections. */
export function deletionTests(context: () => Context): void {
  test('answers a deletion with a Status that names the object', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const { body } = await client.post(path, configMap('a'));
    expect(await client.delete(`${path}/a`)).toMatchObject({
      code: 200,
      body: {
        kind: 'Status',
        status: 'Success',
        details: { name: 'a', kind: 'configmaps', uid: body.metadata.uid },
      },
    });
    expect((await client.get(`${path}/a`)).code).toBe(404);
  });

  test('checks uid and resourceVersion as preconditions', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const { body } = await client.post(path, configMap('a'));
    const { uid, resourceVersion } = body.metadata;
    const remove = (preconditions: object) => client.delete(`${path}/a`, { body: { preconditions } });
    expect(await remove({ uid: 'x' })).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect(await remove({ resourceVersion: '1' })).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect((await remove({ uid, resourceVersion })).code).toBe(200);
  });

  test('keeps an object with finalizers until they are removed', async () => {
    const { client } = context();
    const path = await context().configMaps();
    await client.post(path, configMap('a', {}, { finalizers: ['example.com/a', 'example.com/b'] }));
    const deleted = await client.delete(`${path}/a`);
    expect(deleted.body).toMatchObject({
      kind: 'ConfigMap',
      metadata: { deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 },
    });
    const again = await client.delete(`${path}/a`);
    expect(again.body).toEqual(deleted.body);
    const more = await client.mergePatch(`${path}/a`, {
      metadata: { finalizers: ['example.com/a', 'example.com/b', 'example.com/c'] },
    });
    expect(more).toMatchObject({ code: 422 });
    expect(more.body.message).toContain('no new finalizers can be added if the object is being deleted');
    expect((await client.mergePatch(`${path}/a`, { metadata: { finalizers: ['example.com/b'] } })).code).toBe(200);
    expect((await client.mergePatch(`${path}/a`, { data: { k: 'v' } })).body.data).toEqual({ k: 'v' });
    expect((await client.mergePatch(`${path}/a`, { metadata: { finalizers: null } })).code).toBe(200);
    expect((await client.get(`${path}/a`)).code).toBe(404);
  });

  test('raises the generation of a custom resource on deletion', async () => {
    const { client } = context();
    const path = await context().things();
    await client.post(path, context().thing('a', { size: 1 }, { metadata: { finalizers: ['example.com/a'] } }));
    expect((await client.delete(`${path}/a`)).body.metadata.generation).toBe(2);
  });

  test('sets finalizers for background, orphan and foreground deletion without a garbage collector', async () => {
    const { client } = context();
    const path = await context().things();
    for (const propagationPolicy of ['Background', 'Orphan', 'Foreground']) {
      const name = propagationPolicy.toLowerCase();
      await client.post(path, context().thing(name, { size: 1 }));
      expect((await client.delete(`${path}/${name}`, { body: { propagationPolicy } })).code).toBe(200);
    }
    const { body } = await client.get(path);
    const finalizers = body.items.map((item: Body) => [item.metadata.name, item.metadata.finalizers]);
    expect(finalizers).toEqual([
      ['foreground', ['foregroundDeletion']],
      ['orphan', ['orphan']],
    ]);
  });

  test('deletes a collection by selector', async () => {
    const { client } = context();
    const path = await context().configMaps();
    for (const name of ['a', 'b', 'c']) {
      const finalizers = name === 'b' ? ['example.com/a'] : [];
      await client.post(path, configMap(name, {}, { labels: { keep: String(name === 'c') }, finalizers }));
    }
    const deleted = await client.delete(path, { query: { labelSelector: 'keep=false' } });
    expect(deleted).toMatchObject({ code: 200, body: { kind: 'ConfigMapList' } });
    const left = (await client.get(path)).body.items.map((item: Body) => item.metadata.name);
    expect(left).toEqual(['b', 'c']);
    expect((await client.get(`${path}/b`)).body.metadata.deletionTimestamp).toBeDefined();
  });
}
