import { expect } from 'vitest';
import type { Body } from './client.ts';
import { deployment, type Test } from './context.ts';

const managers = (body: Body) =>
  body.metadata.managedFields.map(({ manager, operation, subresource, fieldsV1 }: Body) => ({
    manager,
    operation,
    ...(subresource && { subresource }),
    fieldsV1,
  }));

/** Tests of server-side apply with force. */
export function applyTests(test: Test): void {
  test('creates a missing object, and its manager owns the applied fields', async ({ client, things, thing }) => {
    const spec = { size: 1, items: [{ name: 'x' }], tags: ['t'] };
    const applied = await client.apply(`${things}/a`, 'one', thing('a', spec, { labels: { l: '1' } }));
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
    const again = await client.apply(`${things}/a`, 'one', thing('a', spec, { labels: { l: '1' } }));
    expect(again).toMatchObject({ code: 200, body: applied.body });
  });

  test('shares ownership of equal values, and takes that of others', async ({ client, things, thing }) => {
    await client.apply(`${things}/a`, 'one', thing('a', { size: 1, name: 'abc' }));
    const shared = await client.apply(`${things}/a`, 'two', thing('a', { size: 1 }));
    expect(managers(shared.body)).toHaveLength(2);
    const taken = await client.apply(`${things}/a`, 'two', thing('a', { size: 2 }));
    expect(taken.body.spec).toMatchObject({ size: 2, name: 'abc' });
    expect(managers(taken.body).toSorted((one: Body, other: Body) => (one.manager < other.manager ? -1 : 1))).toEqual([
      { manager: 'one', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:name': {} } } },
      { manager: 'two', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:size': {} } } },
    ]);
  });

  test('removes a field that its only owner no longer applies', async ({ client, things, thing }) => {
    const full = {
      size: 1,
      name: 'abc',
      map: { a: '1', b: '2' },
      nested: { b: 'y' },
      items: [{ name: 'x', value: '1' }, { name: 'y' }],
      tags: ['s', 't'],
      open: { deep: { v: 1 } },
    };
    const metadata = { labels: { l: '1' }, finalizers: ['example.com/a'] };
    await client.apply(`${things}/a`, 'one', thing('a', full, metadata));
    const other = { size: 1, map: { b: '2' }, items: [{ name: 'y' }], tags: ['t'] };
    const both = await client.apply(`${things}/a`, 'two', thing('a', other, { finalizers: ['example.com/b'] }));
    expect(both.body.metadata.finalizers).toEqual(['example.com/a', 'example.com/b']);
    const { body } = await client.apply(`${things}/a`, 'one', thing('a', { size: 1, items: [{ name: 'x' }] }));
    expect(body.spec).toEqual({
      size: 1,
      mode: 'A',
      map: { b: '2' },
      items: [{ name: 'x' }, { name: 'y' }],
      tags: ['t'],
    });
    expect(body.metadata).toMatchObject({ finalizers: ['example.com/b'] });
    expect(body.metadata.labels).toBeUndefined();
  });

  test('merges list maps by key, sets by value, and atomic values as a whole', async ({ client, things, thing }) => {
    const first = { size: 1, items: [{ name: 'x', value: '1' }], tags: ['s'], atom: { x: '1' }, list: ['a'] };
    await client.apply(`${things}/a`, 'one', thing('a', first));
    const second = { size: 1, items: [{ name: 'y', value: '2' }], tags: ['t'], atom: { y: '2' }, list: ['b'] };
    const { body } = await client.apply(`${things}/a`, 'two', thing('a', second));
    expect(body.spec).toMatchObject({
      items: [
        { name: 'x', value: '1' },
        { name: 'y', value: '2' },
      ],
      tags: ['s', 't'],
      list: ['b'],
    });
    expect(body.spec.atom).toEqual({ y: '2' });
  });

  test('gives updated fields to their writer, by its user agent if it has no name', async ({
    client,
    things,
    thing,
  }) => {
    await client.apply(`${things}/a`, 'one', thing('a', { size: 1 }));
    const query = { fieldManager: 'human' };
    const updated = await client.mergePatch(`${things}/a`, { spec: { size: 2 } }, { query });
    expect(managers(updated.body)).toEqual([
      { manager: 'human', operation: 'Update', fieldsV1: { 'f:spec': { 'f:size': {} } } },
    ]);
    const userAgent = 'tool/v1.2 (linux)';
    const named = await client.mergePatch(`${things}/a`, { spec: { name: 'abc' } }, { userAgent });
    expect(managers(named.body)).toContainEqual({
      manager: 'tool',
      operation: 'Update',
      fieldsV1: { 'f:spec': { 'f:name': {} } },
    });
  });

  test('writes the status only through its endpoint', async ({ client, things, thing }) => {
    const at = `${things}/a`;
    await client.apply(at, 'one', thing('a', { size: 1 }));
    const withStatus = (status: object, name = 'a') => ({ ...thing(name, {}), spec: undefined, status });
    const condition = (type: string) => withStatus({ conditions: [{ type, status: 'True' }] });
    await client.apply(`${at}/status`, 'one', condition('A'));
    const second = await client.apply(`${at}/status`, 'two', condition('B'));
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
    const left = await client.apply(`${at}/status`, 'one', withStatus({}));
    expect(left.body).toMatchObject({ status: { conditions: [{ type: 'B', status: 'True' }] }, spec: { size: 1 } });
    const missing = await client.apply(`${things}/none/status`, 'one', withStatus({}, 'none'));
    expect(missing.code).toBe(404);
  });

  test('takes uid and resourceVersion in the body as preconditions', async ({ client, things, thing }) => {
    const apply = (size: number, metadata = {}) => client.apply(`${things}/a`, 'one', thing('a', { size }, metadata));
    const conflict = (text: string) => ({
      code: 409,
      body: { reason: 'Conflict', message: expect.stringContaining(text) },
    });
    expect(await apply(1, { uid: 'x' })).toMatchObject(conflict('uid mismatch'));
    const { uid, resourceVersion } = (await apply(1)).body.metadata;
    expect((await apply(2, { uid, resourceVersion })).code).toBe(200);
    expect(await apply(3, { uid, resourceVersion })).toMatchObject(conflict('the object has been modified'));
    expect((await apply(3, { uid: 'x' })).code).toBe(422);
  });

  test('refuses managedFields and unknown fields', async ({ client, things, thing }) => {
    const managedFields = [{ manager: 'x' }];
    const named = await client.apply(`${things}/a`, 'one', thing('a', { size: 1 }, { managedFields }));
    expect(named.code).toBe(400);
    const unknown = await client.apply(`${things}/a`, 'one', thing('a', { size: 1, nope: 1 }));
    expect(unknown).toMatchObject({
      code: 500,
      body: { message: expect.stringContaining('.spec.nope: field not declared in schema') },
    });
  });

  test('merges containers, environment and ports by their keys', async ({ client, deployments }) => {
    const container = { name: 'm', image: 'x:1', ports: [{ containerPort: 80 }], env: [{ name: 'A', value: '1' }] };
    const created = await client.apply(`${deployments}/d`, 'one', deployment([container]));
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
    const other = { ...deployment(), spec: { replicas: 3, template: { spec: { containers: [{ name: 'm', env }] } } } };
    await client.apply(`${deployments}/d`, 'two', other);
    const { body } = await client.apply(`${deployments}/d`, 'one', deployment([{ ...container, env: [] }]));
    expect(body.spec).toMatchObject({ replicas: 3, template: { spec: { containers: [{ env }] } } });
  });
}
