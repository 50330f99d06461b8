import { expect, test } from 'vitest';
import { applyType, type Body } from './client.ts';
import type { Context } from './context.ts';

const managers = (body: Body) =>
  body.metadata.managedFields.map(({ manager, operation, subresource, fieldsV1 }: Body) => ({
    manager,
    operation,
    ...(subresource && { subresource }),
    fieldsV1,
  }));

/** Tests of server-side apply. */
export function applyTests(context: () => Context): void {
  const thing = (spec: object, metadata: object = {}) => context().thing('a', spec, { metadata });

  async function path(): Promise<string> {
    return `${await context().things()}/a`;
  }

  test('creates a missing object, and its manager owns the applied fields', async () => {
    const { client } = context();
    const at = await path();
    const applied = await client.apply(
      at,
      'one',
      thing({ size: 1, items: [{ name: 'x' }], tags: ['t'] }, { labels: { l: '1' } }),
    );
    expect(applied.code).toBe(201);
    expect(managers(applied.body)).toEqual([
      {
        manager: 'one',
        operation: 'Apply',
        fieldsV1: {
          'f:metadata': { 'f:labels': { 'f:l': {} } },
          'f:spec': {
            'f:size': {},
            'f:items': { 'k:{"name":"x"}': { '.': {}, 'f:name': {} } },
            'f:tags': { 'v:"t"': {} },
          },
        },
      },
    ]);
    // The default has no owner.
    expect(applied.body.spec.mode).toBe('A');
  });

  test('keeps the resourceVersion without a change', async () => {
    const { client } = context();
    const at = await path();
    const first = await client.apply(at, 'one', thing({ size: 1 }));
    const second = await client.apply(at, 'one', thing({ size: 1 }));
    expect(second.code).toBe(200);
    expect(second.body).toEqual(first.body);
  });

  test('answers a different value of another manager with a conflict that names field and manager', async () => {
    const { client } = context();
    const at = await path();
    await client.apply(at, 'one', thing({ size: 1, name: 'abc' }));
    const refused = await client.apply(at, 'two', thing({ size: 2 }));
    expect(refused).toMatchObject({
      code: 409,
      body: {
        reason: 'Conflict',
        message: 'Apply failed with 1 conflict: conflict with "one": .spec.size',
        details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.size' }] },
      },
    });
    const both = await client.apply(at, 'two', thing({ size: 2, name: 'abd' }));
    expect(both.body.message).toBe('Apply failed with 2 conflicts: conflicts with "one":\n- .spec.name\n- .spec.size');
    expect((await client.get(at)).body.spec.size).toBe(1);
  });

  test('shares ownership of equal values', async () => {
    const { client } = context();
    const at = await path();
    await client.apply(at, 'one', thing({ size: 1 }));
    const shared = await client.apply(at, 'two', thing({ size: 1 }));
    expect(shared.code).toBe(200);
    expect(
      managers(shared.body)
        .map(({ manager }: Body) => manager)
        .toSorted(),
    ).toEqual(['one', 'two']);
  });

  test('transfers ownership with force', async () => {
    const { client } = context();
    const at = await path();
    await client.apply(at, 'one', thing({ size: 1, name: 'abc' }));
    const forced = await client.apply(at, 'two', thing({ size: 2 }), { force: 'true' });
    expect(forced.body.spec).toMatchObject({ size: 2, name: 'abc' });
    expect(managers(forced.body)).toEqual(
      expect.arrayContaining([
        { manager: 'one', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:name': {} } } },
        { manager: 'two', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:size': {} } } },
      ]),
    );
    expect((await client.apply(at, 'one', thing({ size: 1 }))).body.message).toContain('conflict with "two"');
  });

  test('removes a field that its only owner no longer applies', async () => {
    const { client } = context();
    const at = await path();
    const full = {
      size: 1,
      name: 'abc',
      map: { a: '1', b: '2' },
      nested: { b: 'y' },
      items: [{ name: 'x', value: '1' }, { name: 'y' }],
      tags: ['s', 't'],
      open: { deep: { v: 1 } },
    };
    await client.apply(at, 'one', thing(full, { labels: { l: '1' }, finalizers: ['example.com/f'] }));
    await client.apply(at, 'two', thing({ size: 1, map: { b: '2' }, items: [{ name: 'y' }], tags: ['t'] }));
    const reduced = await client.apply(at, 'one', thing({ size: 1, items: [{ name: 'x' }] }));
    expect(reduced.body.spec).toEqual({
      size: 1,
      mode: 'A',
      map: { b: '2' },
      items: [{ name: 'x' }, { name: 'y' }],
      tags: ['t'],
    });
    expect(reduced.body.metadata.labels).toBeUndefined();
    expect(reduced.body.metadata.finalizers).toBeUndefined();
  });

  test('merges list maps by key, sets by value, and atomic values as a whole', async () => {
    const { client } = context();
    const at = await path();
    await client.apply(
      at,
      'one',
      thing({ size: 1, items: [{ name: 'x', value: '1' }], tags: ['s'], atom: { x: '1' }, list: ['a'] }),
    );
    const second = await client.apply(at, 'two', thing({ size: 1, items: [{ name: 'y', value: '2' }], tags: ['t'] }));
    expect(second.body.spec.items).toEqual([
      { name: 'x', value: '1' },
      { name: 'y', value: '2' },
    ]);
    expect(second.body.spec.tags).toEqual(['s', 't']);
    const atoms = await client.apply(at, 'two', thing({ size: 1, atom: { y: '2' }, list: ['b'] }));
    expect(atoms.body.details.causes.map(({ field }: Body) => field).toSorted()).toEqual(['.spec.atom', '.spec.list']);
    const forced = await client.apply(at, 'two', thing({ size: 1, atom: { y: '2' }, list: ['b'] }), { force: 'true' });
    expect(forced.body.spec).toMatchObject({ atom: { y: '2' }, list: ['b'], items: [{ name: 'x' }], tags: ['s'] });
  });

  test('names conflicts below list items by key', async () => {
    const { client } = context();
    const at = await path();
    await client.apply(at, 'one', thing({ size: 1, items: [{ name: 'x', value: '1' }] }));
    const refused = await client.apply(at, 'two', thing({ size: 1, items: [{ name: 'x', value: '2' }] }));
    expect(refused.body.details.causes).toMatchObject([{ field: '.spec.items[name="x"].value' }]);
  });

  test('gives updated fields to their writer, which is a conflict for appliers', async () => {
    const { client } = context();
    const at = await path();
    await client.apply(at, 'one', thing({ size: 1 }));
    const updated = await client.mergePatch(at, { spec: { size: 2 } }, { query: { fieldManager: 'human' } });
    expect(managers(updated.body)).toEqual([
      { manager: 'human', operation: 'Update', fieldsV1: { 'f:spec': { 'f:size': {} } } },
    ]);
    const refused = await client.apply(at, 'one', thing({ size: 1 }));
    expect(refused.code).toBe(409);
    expect(refused.body.message).toBe(
      `Apply failed with 1 conflict: conflict with "human" using ${context().group}/v1: .spec.size`,
    );
  });

  test('uses the user agent as the field manager of an update that names none', async () => {
    const at = await path();
    await context().client.apply(at, 'one', thing({ size: 1 }));
    const updated = await context().client.mergePatch(
      at,
      { spec: { name: 'abc' } },
      { userAgent: 'tool/v1.2 (linux)' },
    );
    expect(managers(updated.body)).toContainEqual({
      manager: 'tool',
      operation: 'Update',
      fieldsV1: { 'f:spec': { 'f:name': {} } },
    });
  });

  test('writes the status only through its endpoint', async () => {
    const { client } = context();
    const at = await path();
    await client.apply(at, 'one', thing({ size: 1 }));
    const condition = (type: string, status: string) => ({
      ...thing({}),
      spec: undefined,
      status: { conditions: [{ type, status }] },
    });
    await client.apply(`${at}/status`, 'one', condition('A', 'True'));
    const second = await client.apply(`${at}/status`, 'two', condition('B', 'True'));
    expect(second.body.status.conditions).toEqual([
      { type: 'A', status: 'True' },
      { type: 'B', status: 'True' },
    ]);
    expect(managers(second.body)).toContainEqual({
      manager: 'two',
      operation: 'Apply',
      subresource: 'status',
      fieldsV1: {
        'f:status': { 'f:conditions': { 'k:{"type":"B"}': { '.': {}, 'f:status': {}, 'f:type': {} } } },
      },
    });
    const left = await client.apply(`${at}/status`, 'one', { ...condition('A', 'True'), status: {} });
    expect(left.body.status.conditions).toEqual([{ type: 'B', status: 'True' }]);
    expect(left.body.spec.size).toBe(1);
    const missing = await client.apply(at.replace(/a$/, 'none/status'), 'one', {
      ...condition('A', 'True'),
      metadata: { name: 'none' },
    });
    expect(missing.code).toBe(404);
  });

  test('takes uid and resourceVersion in the body as preconditions', async () => {
    const { client } = context();
    const at = await path();
    const orphan = await client.apply(at, 'one', thing({ size: 1 }, { uid: 'x' }));
    expect(orphan).toMatchObject({
      code: 409,
      body: { reason: 'Conflict', message: expect.stringContaining('uid mismatch') },
    });
    const { body } = await client.apply(at, 'one', thing({ size: 1 }));
    const { uid, resourceVersion } = body.metadata;
    expect((await client.apply(at, 'one', thing({ size: 2 }, { uid, resourceVersion }))).code).toBe(200);
    expect(await client.apply(at, 'one', thing({ size: 3 }, { uid, resourceVersion }))).toMatchObject({
      code: 409,
      body: { reason: 'Conflict', message: expect.stringContaining('the object has been modified') },
    });
    expect((await client.apply(at, 'one', thing({ size: 3 }, { uid: 'x' }))).code).toBe(422);
  });

  test('rejects an apply without a manager, with managedFields, or with unknown fields', async () => {
    const { client } = context();
    const at = await path();
    expect(await client.send('PATCH', at, { body: thing({ size: 1 }), contentType: applyType })).toMatchObject({
      code: 422,
      body: { reason: 'Invalid', details: { causes: [{ field: 'fieldManager' }] } },
    });
    expect(await client.apply(at, 'one', thing({ size: 1 }, { managedFields: [{ manager: 'x' }] }))).toMatchObject({
      code: 400,
    });
    const unknown = await client.apply(at, 'one', thing({ size: 1, nope: 1 }));
    expect(unknown.code).toBe(500);
    expect(unknown.body.message).toContain('.spec.nope: field not declared in schema');
    const wrong = await client.apply(at, 'one', thing({ size: 'x' }));
    expect(wrong.code).toBe(500);
    expect(wrong.body.message).toContain('.spec.size: expected numeric (int or float), got string');
  });

  test('accepts YAML', async () => {
    const at = `${await context().configMaps()}/a`;
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: |\n    v\n';
    const applied = await context().client.send('PATCH', at, {
      body,
      contentType: applyType,
      query: { fieldManager: 'one' },
    });
    expect(applied.body.data).toEqual({ k: 'v\n' });
  });

  test('clears ownership on request; the fields then have no owner', async () => {
    const { client } = context();
    const at = await path();
    await client.apply(at, 'one', thing({ size: 1 }));
    const cleared = await client.mergePatch(at, { metadata: { managedFields: [{}] } });
    expect(cleared.body.metadata.managedFields).toBeUndefined();
    const refused = await client.apply(at, 'one', thing({ size: 2 }));
    expect(refused.body.message).toContain('conflict with "before-first-apply"');
  });

  test('does not store a dry run', async () => {
    const at = await path();
    expect((await context().client.apply(at, 'one', thing({ size: 1 }), { dryRun: 'All' })).code).toBe(201);
    expect((await context().client.get(at)).code).toBe(404);
  });

  test('merges containers, environment and ports by their keys', async () => {
    const { client } = context();
    const at = `/apis/apps/v1/namespaces/${await context().namespace()}/deployments/d`;
    const deployment = (spec: object) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec });
    const container = { name: 'm', image: 'x:1', ports: [{ containerPort: 80 }], env: [{ name: 'A', value: '1' }] };
    const template = (containers: object[]) => ({ metadata: { labels: { a: 'b' } }, spec: { containers } });
    const selector = { matchLabels: { a: 'b' } };
    const created = await client.apply(at, 'one', deployment({ selector, template: template([container]) }));
    expect(created.code, JSON.stringify(created.body)).toBe(201);
    expect(managers(created.body)[0].fieldsV1['f:spec']['f:template']['f:spec']).toEqual({
      'f:containers': {
        'k:{"name":"m"}': {
          '.': {},
          'f:name': {},
          'f:image': {},
          'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
          'f:env': { 'k:{"name":"A"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
        },
      },
    });
    const env = [{ name: 'B', value: '2' }];
    await client.apply(
      at,
      'two',
      deployment({ replicas: 3, template: { spec: { containers: [{ name: 'm', env }] } } }),
    );
    const last = await client.apply(
      at,
      'one',
      deployment({ selector, template: template([{ ...container, env: [] }]) }),
    );
    expect(last.body.spec.replicas).toBe(3);
    expect(last.body.spec.template.spec.containers[0].env).toEqual([{ name: 'B', value: '2' }]);
  });

  test('keeps the finalizers of several managers', async () => {
    const { client } = context();
    const at = await path();
    await client.apply(at, 'one', thing({ size: 1 }, { finalizers: ['example.com/a'] }));
    const both = await client.apply(at, 'two', thing({ size: 1 }, { finalizers: ['example.com/b'] }));
    expect(both.body.metadata.finalizers).toEqual(['example.com/a', 'example.com/b']);
    const one = await client.apply(at, 'one', thing({ size: 1 }));
    expect(one.body.metadata.finalizers).toEqual(['example.com/b']);
  });
}
