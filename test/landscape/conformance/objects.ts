import { expect, test } from 'vitest';
import { type Context, configMap } from './context.ts';

/** Tests of create, read and update. */
export function objectTests(context: () => Context): void {
  test('gives a new object uid, resourceVersion, time and field ownership', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const { code, body } = await client.post(path, configMap('a', { k: 'v' }));
    expect(code).toBe(201);
    expect(body).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'a',
        namespace: path.split('/')[4],
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
    expect((await client.get(`${path}/a`)).body).toEqual(body);
  });

  test('generates names from generateName', async () => {
    const path = await context().configMaps();
    const create = () => context().client.post(path, configMap('', {}, { name: undefined, generateName: 'gen-' }));
    const [one, other] = [await create(), await create()];
    expect(one.body.metadata).toMatchObject({ name: expect.stringMatching(/^gen-[a-z0-9]{5}$/), generateName: 'gen-' });
    expect(other.body.metadata.name).not.toBe(one.body.metadata.name);
  });

  test('rejects an existing name', async () => {
    const path = await context().configMaps();
    await context().client.post(path, configMap('a'));
    expect(await context().client.post(path, configMap('a'))).toMatchObject({
      code: 409,
      body: {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        reason: 'AlreadyExists',
        message: 'configmaps "a" already exists',
        details: { name: 'a', kind: 'configmaps' },
        code: 409,
      },
    });
  });

  test('answers missing objects with 404', async () => {
    const path = await context().configMaps();
    const missing = {
      code: 404,
      body: { reason: 'NotFound', message: 'configmaps "x" not found', details: { name: 'x', kind: 'configmaps' } },
    };
    expect(await context().client.get(`${path}/x`)).toMatchObject(missing);
    expect(await context().client.put(`${path}/x`, configMap('x'))).toMatchObject(missing);
    expect(await context().client.mergePatch(`${path}/x`, {})).toMatchObject(missing);
    expect(await context().client.delete(`${path}/x`)).toMatchObject(missing);
  });

  test('validates names, labels and keys', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const invalid = (field: string) => ({
      code: 422,
      body: { reason: 'Invalid', details: { kind: 'ConfigMap', causes: [{ field }] } },
    });
    expect(await client.post(path, configMap('UPPER'))).toMatchObject(invalid('metadata.name'));
    expect(await client.post(path, configMap('', {}, { name: undefined }))).toMatchObject(invalid('metadata.name'));
    expect(await client.post(path, configMap('a', {}, { labels: { 'a b': 'c' } }))).toMatchObject(
      invalid('metadata.labels'),
    );
    expect(await client.post(path, configMap('a', {}, { labels: { a: 'c d' } }))).toMatchObject(
      invalid('metadata.labels'),
    );
    expect(await client.post(path, configMap('a', { 'a b': 'c' }))).toMatchObject(invalid('data[a b]'));
  });

  test('answers bodies that do not match the path with 400', async () => {
    const { client } = context();
    const path = await context().configMaps();
    await client.post(path, configMap('a'));
    const bad = { code: 400, body: { reason: 'BadRequest' } };
    expect(await client.post(path, configMap('b', { a: 1 }))).toMatchObject(bad);
    expect(await client.post(path, configMap('b', {}, { namespace: 'other' }))).toMatchObject(bad);
    expect(await client.post(path, { ...configMap('b'), kind: 'Secret' })).toMatchObject(bad);
    expect(await client.put(`${path}/a`, configMap('b'))).toMatchObject(bad);
  });

  test('drops unknown fields with a warning, or rejects them on request', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const odd = { ...configMap('a'), foo: 1 };
    expect(await client.post(path, odd, { query: { fieldValidation: 'Strict' } })).toMatchObject({
      code: 400,
      body: { message: expect.stringContaining('strict decoding error: unknown field "foo"') },
    });
    const created = await client.post(path, odd);
    expect(created).toMatchObject({ code: 201, headers: { warning: '299 - "unknown field \\"foo\\""' } });
    expect(created.body.foo).toBeUndefined();
    const ignored = await client.post(
      path,
      { ...odd, metadata: { name: 'b' } },
      { query: { fieldValidation: 'Ignore' } },
    );
    expect(ignored.headers.warning).toBeUndefined();
  });

  test('answers a dry run like a write, and stores nothing', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const dry = { query: { dryRun: 'All' } };
    expect(await client.post(path, configMap('a', { k: 'v' }), dry)).toMatchObject({
      code: 201,
      body: { data: { k: 'v' } },
    });
    expect((await client.get(`${path}/a`)).code).toBe(404);
    const { body } = await client.post(path, configMap('a', { k: 'v' }));
    expect(await client.mergePatch(`${path}/a`, { data: { k: 'w' } }, dry)).toMatchObject({
      body: { data: { k: 'w' } },
    });
    expect((await client.delete(`${path}/a`, dry)).code).toBe(200);
    expect((await client.get(`${path}/a`)).body).toEqual(body);
  });

  test('answers an update with an old resourceVersion with a conflict', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const { body: first } = await client.post(path, configMap('a', { k: '1' }));
    const { body: second } = await client.put(`${path}/a`, { ...first, data: { k: '2' } });
    expect(second.data).toEqual({ k: '2' });
    expect(second.metadata.uid).toBe(first.metadata.uid);
    expect(await client.put(`${path}/a`, { ...first, data: { k: '3' } })).toMatchObject({
      code: 409,
      body: {
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
        details: { name: 'a', kind: 'configmaps' },
      },
    });
    expect(
      await client.mergePatch(`${path}/a`, { metadata: { resourceVersion: first.metadata.resourceVersion } }),
    ).toMatchObject({
      code: 409,
      body: { reason: 'Conflict' },
    });
    const unconditional = await client.put(`${path}/a`, configMap('a', { k: '4' }));
    expect(unconditional).toMatchObject({ code: 200, body: { data: { k: '4' } } });
  });

  test('answers an update for another uid with a conflict', async () => {
    const path = await context().configMaps();
    await context().client.post(path, configMap('a'));
    expect(await context().client.put(`${path}/a`, configMap('a', {}, { uid: 'x' }))).toMatchObject({ code: 409 });
  });

  test('keeps the resourceVersion when a write changes nothing', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const { body } = await client.post(path, configMap('a', { k: 'v' }));
    const { resourceVersion } = body.metadata;
    expect((await client.put(`${path}/a`, body)).body.metadata.resourceVersion).toBe(resourceVersion);
    expect((await client.mergePatch(`${path}/a`, { data: { k: 'v' } })).body.metadata.resourceVersion).toBe(
      resourceVersion,
    );
    expect((await client.mergePatch(`${path}/a`, {})).body.metadata.resourceVersion).toBe(resourceVersion);
  });

  test('ignores or rejects changes of system metadata', async () => {
    const { client } = context();
    const path = await context().configMaps();
    const { body } = await client.post(path, configMap('a'));
    const changed = await client.mergePatch(`${path}/a`, {
      metadata: { creationTimestamp: '2000-01-01T00:00:00Z', generation: 7, labels: { a: 'b' } },
    });
    expect(changed.body.metadata.creationTimestamp).toBe(body.metadata.creationTimestamp);
    expect(changed.body.metadata.generation).toBeUndefined();
    const deletionTimestamp = '2000-01-01T00:00:00Z';
    expect(await client.mergePatch(`${path}/a`, { metadata: { deletionTimestamp } })).toMatchObject({ code: 422 });
    expect(await client.mergePatch(`${path}/a`, { metadata: { uid: 'x' } })).toMatchObject({ code: 422 });
  });

  test('returns only metadata on request', async () => {
    const { client } = context();
    const path = await context().configMaps();
    await client.post(path, configMap('a', { k: 'v' }, { labels: { l: '1' } }));
    const one = await client.get(`${path}/a`, {
      accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    });
    expect(one.body).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a', labels: { l: '1' } },
    });
    expect(one.body.data).toBeUndefined();
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    const list = await client.get(path, { accept });
    expect(list.body.kind).toBe('PartialObjectMetadataList');
    expect(list.body.items).toEqual([one.body]);
  });
}
