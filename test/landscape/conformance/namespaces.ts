import { expect, test } from 'vitest';
import { type Context, configMap, unique } from './context.ts';

/** Tests of namespaces without a namespace controller. */
export function namespaceTests(context: () => Context): void {
  test('creates an active namespace with a label for its name and a finalizer in its spec', async () => {
    const name = await context().namespace();
    expect((await context().client.get(`/api/v1/namespaces/${name}`)).body).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  });

  test.each(['default', 'kube-system', 'kube-public', 'kube-node-lease'])('%s is there', async (name) => {
    expect((await context().client.get(`/api/v1/namespaces/${name}`)).code).toBe(200);
  });

  test('requires an existing namespace for objects', async () => {
    const { client } = context();
    const missing = unique();
    const notFound = { code: 404, body: { reason: 'NotFound', details: { kind: 'namespaces', name: missing } } };
    expect(await client.post(`/api/v1/namespaces/${missing}/configmaps`, configMap('a'))).toMatchObject(notFound);
    expect(await client.apply(`/api/v1/namespaces/${missing}/configmaps/a`, 'm', configMap('a'))).toMatchObject(
      notFound,
    );
    expect((await client.get(`/api/v1/namespaces/${missing}/configmaps`)).body.items).toEqual([]);
  });

  test('keeps the objects of a terminating namespace, and rejects new ones', async () => {
    const { client } = context();
    const name = await context().namespace();
    const path = `/api/v1/namespaces/${name}`;
    await client.post(`${path}/configmaps`, configMap('a'));
    const deleted = await client.delete(path);
    expect(deleted.body).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String) },
      status: { phase: 'Terminating' },
    });
    expect(await client.post(`${path}/configmaps`, configMap('b'))).toMatchObject({
      code: 403,
      body: {
        reason: 'Forbidden',
        message: `configmaps "b" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
        details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
      },
    });
    expect((await client.mergePatch(`${path}/configmaps/a`, { data: { k: 'v' } })).code).toBe(200);
    expect((await client.get(`${path}/configmaps`)).body.items).toHaveLength(1);
  });

  test('removes a namespace when it is finalized', async () => {
    const { client } = context();
    const name = await context().namespace();
    const path = `/api/v1/namespaces/${name}`;
    await client.delete(path);
    const { body } = await client.get(path);
    expect((await client.put(`${path}/finalize`, { ...body, spec: {} })).code).toBe(200);
    expect((await client.get(path)).code).toBe(404);
  });

  test('rejects the deletion of system namespaces', async () => {
    expect(await context().client.delete('/api/v1/namespaces/kube-system')).toMatchObject({
      code: 403,
      body: { reason: 'Forbidden' },
    });
  });
}
