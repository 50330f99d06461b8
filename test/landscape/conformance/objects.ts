import { expect } from 'vitest';
import { configMap, invalid, type Test } from './context.ts';

const conflict = { code: 409, body: { reason: 'Conflict' } };

/** Tests of create, read, update, patch and delete. */
export function objectTests(test: Test): void {
  test('gives a new object uid, version, time and field ownership', async ({ client, configMaps, namespace }) => {
    const { code, body } = await client.post(configMaps, configMap('a', { k: 'v' }));
    expect(code).toBe(201);
    expect(body).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'a',
        namespace,
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        resourceVersion: expect.stringMatching(/^\d+$/),
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        managedFields: [
          {
            manager: 'conformance',
            operation: 'Update',
            apiVersion: 'v1',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { '.': {}, 'f:k': {} } },
          },
        ],
      },
      data: { k: 'v' },
    });
    expect(body.metadata.generation).toBeUndefined();
    expect((await client.get(`${configMaps}/a`)).body).toEqual(body);
  });

  test('rejects an existing name', async ({ client, configMaps }) => {
    await client.post(configMaps, configMap('a'));
    expect(await client.post(configMaps, configMap('a'))).toMatchObject({
      code: 409,
      body: { reason: 'AlreadyExists', message: 'configmaps "a" already exists' },
    });
  });

  test('answers requests for a missing object with 404', async ({ client, configMaps, things, group }) => {
    const missing = { code: 404, body: { reason: 'NotFound', message: 'configmaps "a" not found' } };
    expect(await client.get(`${configMaps}/a`)).toMatchObject(missing);
    expect(await client.put(`${configMaps}/a`, configMap('a'))).toMatchObject(missing);
    expect(await client.mergePatch(`${configMaps}/a`, {})).toMatchObject(missing);
    expect(await client.delete(`${configMaps}/a`)).toMatchObject(missing);
    expect((await client.get(`${things}/a`)).body.message).toBe(`things.${group} "a" not found`);
    expect(await client.post('/api/v1/namespaces/missing/configmaps', configMap('a'))).toMatchObject({
      code: 404,
      body: { reason: 'NotFound', details: { kind: 'namespaces', name: 'missing' } },
    });
  });

  test('validates names', async ({ client, configMaps }) => {
    expect(await client.post(configMaps, configMap('UPPER'))).toMatchObject(invalid('metadata.name'));
    expect(await client.post(configMaps, configMap(''))).toMatchObject(invalid('metadata.name'));
  });

  test('answers an update of another version or uid with a conflict', async ({ client, configMaps }) => {
    const { body: first } = await client.post(configMaps, configMap('a', { k: '1' }));
    const { body: second } = await client.put(`${configMaps}/a`, { ...first, data: { k: '2' } });
    expect(second.data).toEqual({ k: '2' });
    expect(second.metadata.uid).toBe(first.metadata.uid);
    expect(await client.put(`${configMaps}/a`, { ...first, data: { k: '3' } })).toMatchObject({
      code: 409,
      body: {
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
        details: { name: 'a', kind: 'configmaps' },
      },
    });
    const { resourceVersion } = first.metadata;
    expect(await client.mergePatch(`${configMaps}/a`, { metadata: { resourceVersion } })).toMatchObject(conflict);
    expect(await client.put(`${configMaps}/a`, configMap('a', {}, { uid: 'x' }))).toMatchObject({ code: 409 });
    const unconditional = await client.put(`${configMaps}/a`, configMap('a', { k: '4' }));
    expect(unconditional).toMatchObject({ code: 200, body: { data: { k: '4' } } });
  });

  test('keeps the resourceVersion when a write changes nothing', async ({ client, configMaps }) => {
    const { body } = await client.post(configMaps, configMap('a', { k: 'v' }));
    const same = { body: { metadata: { resourceVersion: body.metadata.resourceVersion } } };
    expect(await client.put(`${configMaps}/a`, body)).toMatchObject(same);
    expect(await client.mergePatch(`${configMaps}/a`, { data: { k: 'v' } })).toMatchObject(same);
    expect(await client.mergePatch(`${configMaps}/a`, {})).toMatchObject(same);
  });

  test('sets fields, and removes them by null, with a merge patch', async ({ client, configMaps }) => {
    await client.post(configMaps, configMap('a', { k: 'v', l: 'w' }, { labels: { a: '1', b: '2' } }));
    const patch = { data: { k: null, m: 'x' }, metadata: { labels: { a: null } } };
    const { body } = await client.mergePatch(`${configMaps}/a`, patch);
    expect(body.data).toEqual({ l: 'w', m: 'x' });
    expect(body.metadata.labels).toEqual({ b: '2' });
  });

  test('returns only metadata on request', async ({ client, configMaps }) => {
    await client.post(configMaps, configMap('a', { k: 'v' }, { labels: { l: '1' } }));
    const accept = (kind: string) => ({ accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` });
    const one = await client.get(`${configMaps}/a`, accept('PartialObjectMetadata'));
    expect(one.body).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a', labels: { l: '1' } },
    });
    expect(one.body.data).toBeUndefined();
    const list = await client.get(configMaps, accept('PartialObjectMetadataList'));
    expect(list.body).toMatchObject({ kind: 'PartialObjectMetadataList', items: [one.body] });
  });

  test('deletes at once, if uid and resourceVersion are those of the object', async ({ client, configMaps }) => {
    const { body } = await client.post(configMaps, configMap('a'));
    const { uid, resourceVersion } = body.metadata;
    const remove = (preconditions: object) => client.delete(`${configMaps}/a`, { body: { preconditions } });
    expect(await remove({ uid: 'x' })).toMatchObject(conflict);
    expect(await remove({ resourceVersion: '1' })).toMatchObject(conflict);
    expect(await remove({ uid, resourceVersion })).toMatchObject({
      code: 200,
      body: { kind: 'Status', status: 'Success', details: { name: 'a', kind: 'configmaps', uid } },
    });
    expect((await client.get(`${configMaps}/a`)).code).toBe(404);
  });

  test('keeps an object with finalizers until they are removed', async ({ client, configMaps }) => {
    const at = `${configMaps}/a`;
    await client.post(configMaps, configMap('a', {}, { finalizers: ['example.com/a', 'example.com/b'] }));
    const deleted = await client.delete(at);
    expect(deleted.body).toMatchObject({
      kind: 'ConfigMap',
      metadata: { deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 },
    });
    expect((await client.delete(at)).body).toEqual(deleted.body);
    const patch = (finalizers: string[] | null) => client.mergePatch(at, { metadata: { finalizers } });
    const more = await patch(['example.com/a', 'example.com/b', 'example.com/c']);
    expect(more.code).toBe(422);
    expect(more.body.message).toContain('no new finalizers can be added if the object is being deleted');
    expect((await patch(['example.com/b'])).code).toBe(200);
    expect((await client.mergePatch(at, { data: { k: 'v' } })).body.data).toEqual({ k: 'v' });
    expect((await patch(null)).code).toBe(200);
    expect((await client.get(at)).code).toBe(404);
  });

  test('sets a finalizer for foreground deletion, and raises the generation', async ({ client, things, thing }) => {
    for (const propagationPolicy of ['Background', 'Foreground']) {
      const name = propagationPolicy.toLowerCase();
      await client.post(things, thing(name, { size: 1 }));
      expect((await client.delete(`${things}/${name}`, { body: { propagationPolicy } })).code).toBe(200);
    }
    expect((await client.get(things)).body.items).toMatchObject([
      { metadata: { name: 'foreground', generation: 2, finalizers: ['foregroundDeletion'] } },
    ]);
  });
}
