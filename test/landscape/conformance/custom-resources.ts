import { expect, test } from 'vitest';
import type { Body } from './client.ts';
import { type Context, eventually, unique } from './context.ts';
import { crd, crdPath, install } from './things.ts';

/** Tests of CRDs and custom resources. */
export function customResourceTests(context: () => Context): void {
  test('establishes a CRD', async () => {
    const { client, group } = context();
    const { body } = await client.get(`${crdPath}/things.${group}`);
    expect(body.status).toMatchObject({
      acceptedNames: { kind: 'Thing', listKind: 'ThingList', plural: 'things', singular: 'thing' },
      storedVersions: ['v1'],
    });
    const condition = (type: string) => body.status.conditions.find((each: Body) => each.type === type);
    expect(condition('Established')).toMatchObject({ status: 'True', reason: 'InitialNamesAccepted' });
    expect(condition('NamesAccepted')).toMatchObject({ status: 'True', reason: 'NoConflicts' });
  });

  test('rejects a CRD whose name does not match', async () => {
    const definition = {
      ...crd(context().group, 'Odd', { status: false, scope: 'Cluster' }),
      metadata: { name: 'x.y.z' },
    };
    expect(await context().client.post(crdPath, definition)).toMatchObject({
      code: 422,
      body: { details: { causes: [{ field: 'metadata.name' }] } },
    });
  });

  test('rejects a CRD without a version that was stored, until its status no longer names it', async () => {
    const { client, group } = context();
    const path = `${crdPath}/olds.${group}`;
    const definition = crd(group, 'Old', { status: false, scope: 'Cluster' }) as Body;
    const [v1, v1beta1] = definition.spec.versions;
    const storing = (versions: object[]) => ({ ...definition, spec: { ...definition.spec, versions } });
    const both = [
      { ...v1, storage: false },
      { ...v1beta1, storage: true },
    ];
    await install(context(), storing(both));
    const apply = (body: object) => client.mergePatch(path, body);
    const refused = { code: 422, body: { details: { causes: [{ field: 'status.storedVersions[0]' }] } } };
    expect(await apply({ spec: { versions: [v1] } })).toMatchObject(refused);
    expect(await apply({ spec: { versions: [v1, v1beta1] } })).toMatchObject({ code: 200 });
    await eventually(async () => {
      const { body } = await client.get(path);
      expect(body.status.storedVersions).toEqual(['v1beta1', 'v1']);
    });
    expect(await apply({ spec: { versions: [v1] } })).toMatchObject(refused);
    const status = await client.mergePatch(`${path}/status`, { status: { storedVersions: ['v1'] } });
    expect(status).toMatchObject({ code: 200 });
    expect(await apply({ spec: { versions: [v1] } })).toMatchObject({ code: 200 });
  });

  test('prunes unknown fields, fills in defaults, drops nulls', async () => {
    const { client } = context();
    const path = await context().things();
    const spec = {
      size: 1,
      unknown: 1,
      open: { z: { y: 1 } },
      nested: { q: 1 },
      nothing: null,
      name: null,
      port: '5%',
    };
    const { code, body, headers } = await client.post(path, context().thing('a', spec));
    expect(code).toBe(201);
    expect(body.spec).toEqual({
      size: 1,
      mode: 'A',
      open: { z: { y: 1 } },
      nested: { a: 'x' },
      nothing: null,
      port: '5%',
    });
    expect(headers.warning).toContain('unknown field \\"spec.unknown\\"');
    const strict = await client.post(path, context().thing('b', spec), { query: { fieldValidation: 'Strict' } });
    expect(strict).toMatchObject({ code: 400 });
    expect(strict.body.message).toContain('unknown field "spec.nested.q", unknown field "spec.unknown"');
  });

  test.each([
    [{}, 'spec.size', 'FieldValueRequired'],
    [{ size: null }, 'spec.size', 'FieldValueRequired'],
    [{ size: 0 }, 'spec.size', 'FieldValueInvalid'],
    [{ size: 11 }, 'spec.size', 'FieldValueInvalid'],
    [{ size: '1' }, 'spec.size', 'FieldValueTypeInvalid'],
    [{ size: 1.5 }, 'spec.size', 'FieldValueTypeInvalid'],
    [{ size: 1, mode: 'C' }, 'spec.mode', 'FieldValueNotSupported'],
    [{ size: 1, name: 'UP' }, 'spec.name', 'FieldValueInvalid'],
    [{ size: 1, name: 'a' }, 'spec.name', 'FieldValueInvalid'],
    [{ size: 1, name: 'abcdef' }, 'spec.name', 'FieldValueTooLong'],
    [{ size: 1, list: [] }, 'spec.list', 'FieldValueInvalid'],
    [{ size: 1, list: ['a', 'b', 'c'] }, 'spec.list', 'FieldValueTooMany'],
    [{ size: 1, list: [1] }, 'spec.list[0]', 'FieldValueTypeInvalid'],
    [{ size: 1, map: { a: 1 } }, 'spec.map.a', 'FieldValueTypeInvalid'],
    [{ size: 1, port: true }, 'spec.port', 'FieldValueTypeInvalid'],
    [{ size: 1, when: 'soon' }, 'spec.when', 'FieldValueTypeInvalid'],
    [{ size: 1, nested: 'x' }, 'spec.nested', 'FieldValueTypeInvalid'],
    [{ size: 1, items: [{ name: 'a' }, { name: 'a' }] }, 'spec.items[1]', 'FieldValueDuplicate'],
    [{ size: 1, items: [{ value: 'x' }] }, 'spec.items[0].name', 'FieldValueRequired'],
    [{ size: 1, tags: ['a', 'a'] }, 'spec.tags[1]', 'FieldValueDuplicate'],
  ])('%j is invalid: %s %s', async (spec, field, reason) => {
    const { client, group } = context();
    const path = await context().things();
    const { code, body } = await client.post(path, context().thing('a', spec));
    expect(code).toBe(422);
    expect(body).toMatchObject({ reason: 'Invalid', details: { name: 'a', group, kind: 'Thing' } });
    expect(body.details.causes[0]).toMatchObject({ field, reason });
  });

  test('rejects a change of a field that a rule makes immutable', async () => {
    const { client } = context();
    const path = await context().things();
    await client.post(path, context().thing('a', { size: 1 }));
    expect((await client.mergePatch(`${path}/a`, { spec: { fixed: 'x' } })).code).toBe(200);
    const changed = await client.mergePatch(`${path}/a`, { spec: { fixed: 'y' } });
    expect(changed).toMatchObject({ code: 422, body: { details: { causes: [{ field: 'spec.fixed' }] } } });
    expect(changed.body.message).toContain('is fixed');
    expect((await client.mergePatch(`${path}/a`, { spec: { size: 2 } })).code).toBe(200);
  });

  test('requires matching kind and apiVersion', async () => {
    const path = await context().things();
    const body = context().thing('a', { size: 1 });
    expect((await context().client.post(path, { ...body, kind: 'Other' })).code).toBe(422);
    expect((await context().client.post(path, { ...body, apiVersion: `${context().group}/v1beta1` })).code).toBe(400);
    expect((await context().client.post(path, { ...body, kind: undefined, apiVersion: undefined })).code).toBe(400);
  });

  test('writes spec and status separately', async () => {
    const { client } = context();
    const path = await context().things();
    const { body: created } = await client.post(path, context().thing('a', { size: 1 }, { status: { x: 1 } }));
    expect(created.status).toBeUndefined();
    expect(created.metadata.generation).toBe(1);

    const { body: withStatus } = await client.put(`${path}/a/status`, {
      ...created,
      spec: { size: 9 },
      metadata: { ...created.metadata, labels: { l: '1' } },
      status: { ready: true },
    });
    expect(withStatus).toMatchObject({ spec: { size: 1 }, status: { ready: true }, metadata: { generation: 1 } });
    expect(withStatus.metadata.labels).toBeUndefined();

    const { body: changed } = await client.put(`${path}/a`, {
      ...withStatus,
      spec: { size: 2 },
      status: { ready: false },
    });
    expect(changed).toMatchObject({ spec: { size: 2 }, status: { ready: true }, metadata: { generation: 2 } });
    const { body: patched } = await client.mergePatch(`${path}/a/status`, { spec: { size: 5 }, status: { more: 1 } });
    expect(patched).toMatchObject({ spec: { size: 2 }, status: { ready: true, more: 1 }, metadata: { generation: 2 } });
    expect((await client.get(`${path}/a/status`)).body).toEqual(patched);
    const ignored = await client.mergePatch(`${path}/a`, { status: { more: 2 } });
    expect(ignored.body.metadata.resourceVersion).toBe(patched.metadata.resourceVersion);
  });

  test('raises the generation with the spec, not with metadata', async () => {
    const { client } = context();
    const path = await context().things();
    await client.post(path, context().thing('a', { size: 1 }));
    const labelled = await client.mergePatch(`${path}/a`, { metadata: { labels: { a: 'b' }, generation: 77 } });
    expect(labelled.body.metadata.generation).toBe(1);
    expect((await client.mergePatch(`${path}/a`, { spec: { size: 2 } })).body.metadata.generation).toBe(2);
    expect((await client.mergePatch(`${path}/a`, { spec: { size: 2 } })).body.metadata.generation).toBe(2);
  });

  test('treats the status as an ordinary field without the subresource', async () => {
    const { client, group } = context();
    const path = `/apis/${group}/v1/plains`;
    const name = unique();
    const plain = { apiVersion: `${group}/v1`, kind: 'Plain', metadata: { name }, spec: { size: 1 }, status: { a: 1 } };
    const { body } = await client.post(path, plain);
    expect(body).toMatchObject({ status: { a: 1 }, metadata: { generation: 1 } });
    expect(body.metadata.namespace).toBeUndefined();
    const changed = await client.mergePatch(`${path}/${name}`, { status: { a: 2 } });
    expect(changed.body).toMatchObject({ status: { a: 2 }, metadata: { generation: 2 } });
    expect(
      (await client.mergePatch(`${path}/${name}`, { metadata: { labels: { a: 'b' } } })).body.metadata.generation,
    ).toBe(2);
    expect((await client.mergePatch(`${path}/${name}/status`, { status: { a: 3 } })).code).toBe(404);
  });

  test('serves the same object in every version', async () => {
    const { client, group } = context();
    const path = await context().things();
    const beta = path.replace('/v1/', '/v1beta1/');
    await client.post(path, context().thing('a', { size: 1 }));
    expect((await client.get(`${beta}/a`)).body).toMatchObject({ apiVersion: `${group}/v1beta1`, spec: { size: 1 } });
    expect((await client.get(beta)).body.items).toMatchObject([{ apiVersion: `${group}/v1beta1`, kind: 'Thing' }]);
    const patched = await client.mergePatch(`${beta}/a`, { spec: { size: 2 } });
    expect(patched.body).toMatchObject({ apiVersion: `${group}/v1beta1`, metadata: { generation: 2 } });
    expect((await client.get(`${path}/a`)).body).toMatchObject({ apiVersion: `${group}/v1`, spec: { size: 2 } });
  });

  test('requires a resourceVersion for an update', async () => {
    const { client } = context();
    const path = await context().things();
    await client.post(path, context().thing('a', { size: 1 }));
    expect(await client.put(`${path}/a`, context().thing('a', { size: 2 }))).toMatchObject({
      code: 422,
      body: { details: { causes: [{ field: 'metadata.resourceVersion' }] } },
    });
  });

  test('applies a changed schema at once', async () => {
    const { client, group } = context();
    await install(context(), crd(group, 'Shift', { status: false, scope: 'Cluster' }));
    const shift = (name: string) => ({
      apiVersion: `${group}/v1`,
      kind: 'Shift',
      metadata: { name },
      spec: { size: 5, more: 1 },
    });
    expect((await client.post(`/apis/${group}/v1/shifts`, shift('a'))).body.spec.more).toBeUndefined();
    await client.send('PATCH', `${crdPath}/shifts.${group}`, {
      contentType: 'application/json-patch+json',
      body: [
        {
          op: 'add',
          path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/more',
          value: { type: 'integer' },
        },
      ],
    });
    await eventually(async () => {
      const { body } = await client.post(`/apis/${group}/v1/shifts`, shift(unique()));
      expect(body.spec.more).toBe(1);
    });
  });

  test('deletes the objects of a deleted CRD once their finalizers are removed', async () => {
    const { client, group } = context();
    await install(context(), crd(group, 'Brief', { status: false, scope: 'Cluster' }));
    const path = `/apis/${group}/v1/briefs`;
    const brief = (name: string, finalizers: string[]) => ({
      apiVersion: `${group}/v1`,
      kind: 'Brief',
      metadata: { name, finalizers },
      spec: { size: 1 },
    });
    await client.post(path, brief('held', ['example.com/f']));
    await client.post(path, brief('free', []));
    const deleted = await client.delete(`${crdPath}/briefs.${group}`);
    expect(deleted.body.metadata).toMatchObject({ deletionTimestamp: expect.any(String) });
    await eventually(async () => {
      const { body } = await client.get(path);
      expect(body.items.map((item: Body) => item.metadata.name)).toEqual(['held']);
      expect(body.items[0].metadata.deletionTimestamp).toBeDefined();
    });
    expect((await client.get(`${crdPath}/briefs.${group}`)).body.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Terminating', status: 'True' }),
    );
    expect((await client.post(path, brief('late', []))).code).toBe(403);
    await client.mergePatch(`${path}/held`, { metadata: { finalizers: null } });
    await eventually(async () => {
      expect((await client.get(`${crdPath}/briefs.${group}`)).code).toBe(404);
      expect((await client.get(path)).code).toBe(404);
    }, 60);
  });
}
