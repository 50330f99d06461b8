import { expect } from 'vitest';
import type { Body } from './client.ts';
import { crd, crdPath, eventually, install, invalid, type Test } from './context.ts';

/** Tests of CRDs and custom resources. */
export function customResourceTests(test: Test): void {
  test('establishes a CRD', async ({ client, group }) => {
    const { body } = await client.get(`${crdPath}/things.${group}`);
    expect(body.status).toMatchObject({
      acceptedNames: { kind: 'Thing', listKind: 'ThingList', plural: 'things', singular: 'thing' },
      storedVersions: ['v1'],
    });
    const condition = (type: string) => body.status.conditions.find((each: Body) => each.type === type);
    expect(condition('Established')).toMatchObject({ status: 'True', reason: 'InitialNamesAccepted' });
    expect(condition('NamesAccepted')).toMatchObject({ status: 'True', reason: 'NoConflicts' });
  });

  test('rejects a CRD without a version that was stored, until its status no longer names it', async (place) => {
    const { client, group } = place;
    const path = `${crdPath}/olds.${group}`;
    const definition = crd(group, 'Old', 'Cluster') as Body;
    const [v1, v1beta1] = definition.spec.versions;
    const both = [
      { ...v1, storage: false },
      { ...v1beta1, storage: true },
    ];
    await install(place, { ...definition, spec: { ...definition.spec, versions: both } });
    const write = (versions: object[]) => client.mergePatch(path, { spec: { versions } });
    const refused = invalid('status.storedVersions[0]');
    expect(await write([v1])).toMatchObject(refused);
    expect(await write([v1, v1beta1])).toMatchObject({ code: 200 });
    await eventually(async () => {
      expect((await client.get(path)).body.status.storedVersions).toEqual(['v1beta1', 'v1']);
    });
    expect(await write([v1])).toMatchObject(refused);
    const status = await client.mergePatch(`${path}/status`, { status: { storedVersions: ['v1'] } });
    expect(status).toMatchObject({ code: 200 });
    expect(await write([v1])).toMatchObject({ code: 200 });
  });

  test('prunes unknown fields, fills in defaults, drops nulls', async ({ client, things, thing }) => {
    const kept = { size: 1, open: { z: { y: 1 } }, nothing: null, port: '5%' };
    const spec = { ...kept, unknown: 1, nested: { q: 1 }, name: null };
    const { code, body } = await client.post(things, thing('a', spec));
    expect(code).toBe(201);
    expect(body.spec).toEqual({ ...kept, mode: 'A', nested: { a: 'x' } });
  });

  for (const [spec, field, reason] of [
    [{}, 'spec.size', 'FieldValueRequired'],
    [{ size: null }, 'spec.size', 'FieldValueRequired'],
    [{ size: '1' }, 'spec.size', 'FieldValueTypeInvalid'],
    [{ size: 1.5 }, 'spec.size', 'FieldValueTypeInvalid'],
    [{ size: 1, mode: 'C' }, 'spec.mode', 'FieldValueNotSupported'],
    [{ size: 1, list: [1] }, 'spec.list[0]', 'FieldValueTypeInvalid'],
    [{ size: 1, map: { a: 1 } }, 'spec.map.a', 'FieldValueTypeInvalid'],
    [{ size: 1, port: true }, 'spec.port', 'FieldValueTypeInvalid'],
    [{ size: 1, nested: 'x' }, 'spec.nested', 'FieldValueTypeInvalid'],
    [{ size: 1, items: [{ value: 'x' }] }, 'spec.items[0].name', 'FieldValueRequired'],
  ] as const) {
    test(`${JSON.stringify(spec)} is invalid`, async ({ client, group, things, thing }) => {
      const { code, body } = await client.post(things, thing('a', spec));
      expect(code).toBe(422);
      expect(body).toMatchObject({ reason: 'Invalid', details: { name: 'a', group, kind: 'Thing' } });
      expect(body.details.causes[0]).toMatchObject({ field, reason });
    });
  }

  test('requires matching kind and apiVersion, and a version for an update', async ({ client, things, ...place }) => {
    const body = place.thing('a', { size: 1 });
    expect((await client.post(things, { ...body, apiVersion: `${place.group}/v1beta1` })).code).toBe(400);
    expect((await client.post(things, { ...body, kind: undefined, apiVersion: undefined })).code).toBe(400);
    await client.post(things, body);
    expect(await client.put(`${things}/a`, body)).toMatchObject(invalid('metadata.resourceVersion'));
  });

  test('writes spec and status separately', async ({ client, things, thing }) => {
    const { body: created } = await client.post(things, { ...thing('a', { size: 1 }), status: { x: 1 } });
    expect(created.status).toBeUndefined();
    expect(created.metadata.generation).toBe(1);

    const { body: withStatus } = await client.put(`${things}/a/status`, {
      ...created,
      spec: { size: 9 },
      metadata: { ...created.metadata, labels: { l: '1' } },
      status: { ready: true },
    });
    expect(withStatus).toMatchObject({ spec: { size: 1 }, status: { ready: true }, metadata: { generation: 1 } });
    expect(withStatus.metadata.labels).toBeUndefined();

    const next = { ...withStatus, spec: { size: 2 }, status: { ready: false } };
    const { body: changed } = await client.put(`${things}/a`, next);
    expect(changed).toMatchObject({ spec: { size: 2 }, status: { ready: true }, metadata: { generation: 2 } });
    const { body: patched } = await client.mergePatch(`${things}/a/status`, { spec: { size: 5 }, status: { more: 1 } });
    expect(patched).toMatchObject({ spec: { size: 2 }, status: { ready: true, more: 1 }, metadata: { generation: 2 } });
    const ignored = await client.mergePatch(`${things}/a`, { status: { more: 2 } });
    expect(ignored.body.metadata.resourceVersion).toBe(patched.metadata.resourceVersion);
  });

  test('raises the generation with the spec, not with metadata', async ({ client, things, thing }) => {
    await client.post(things, thing('a', { size: 1 }));
    const generation = async (patch: object) =>
      (await client.mergePatch(`${things}/a`, patch)).body.metadata.generation;
    expect(await generation({ metadata: { labels: { a: 'b' }, generation: 77 } })).toBe(1);
    expect(await generation({ spec: { size: 2 } })).toBe(2);
    expect(await generation({ spec: { size: 2 } })).toBe(2);
  });

  test('serves the same object in every version', async ({ client, group, things, thing }) => {
    const beta = things.replace('/v1/', '/v1beta1/');
    await client.post(things, thing('a', { size: 1 }));
    expect((await client.get(`${beta}/a`)).body).toMatchObject({ apiVersion: `${group}/v1beta1`, spec: { size: 1 } });
    expect((await client.get(beta)).body.items).toMatchObject([{ apiVersion: `${group}/v1beta1`, kind: 'Thing' }]);
    const patched = await client.mergePatch(`${beta}/a`, { spec: { size: 2 } });
    expect(patched.body).toMatchObject({ apiVersion: `${group}/v1beta1`, metadata: { generation: 2 } });
    expect((await client.get(`${things}/a`)).body).toMatchObject({ apiVersion: `${group}/v1`, spec: { size: 2 } });
  });

  test('deletes the objects of a deleted CRD once their finalizers are removed', async (place) => {
    const { client, group } = place;
    await install(place, crd(group, 'Brief', 'Cluster'));
    const path = `/apis/${group}/v1/briefs`;
    const create = (name: string, finalizers: string[]) => {
      const metadata = { name, finalizers };
      return client.post(path, { apiVersion: `${group}/v1`, kind: 'Brief', metadata, spec: { size: 1 } });
    };
    await create('held', ['example.com/f']);
    await create('free', []);
    const deleted = await client.delete(`${crdPath}/briefs.${group}`);
    expect(deleted.body.metadata).toMatchObject({ deletionTimestamp: expect.any(String) });
    await eventually(async () => {
      expect((await client.get(path)).body.items).toMatchObject([
        { metadata: { name: 'held', deletionTimestamp: expect.any(String) } },
      ]);
    });
    expect((await client.get(`${crdPath}/briefs.${group}`)).body.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Terminating', status: 'True' }),
    );
    expect((await create('late', [])).code).toBe(403);
    await client.mergePatch(`${path}/held`, { metadata: { finalizers: null } });
    await eventually(async () => {
      expect((await client.get(`${crdPath}/briefs.${group}`)).code).toBe(404);
      expect((await client.get(path)).code).toBe(404);
    });
  });
}
