import { expect } from 'vitest';
import { configMap, deployment, invalid, type Test } from './context.ts';

const encoded = (text: string) => Buffer.from(text).toString('base64');
const secret = (more: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, ...more });

/** Tests of the special rules of built-in types. */
export function builtInTests(test: Test): void {
  test('moves stringData of a Secret into data, which is base64', async ({ client, secrets }) => {
    const { body } = await client.post(secrets, secret({ data: { b: encoded('2') }, stringData: { a: '1' } }));
    expect(body).toMatchObject({ type: 'Opaque', data: { a: encoded('1'), b: encoded('2') } });
    expect(body.stringData).toBeUndefined();
    const patched = await client.mergePatch(`${secrets}/s`, { stringData: { a: '3' } });
    expect(patched.body.data).toEqual({ a: encoded('3'), b: encoded('2') });
    expect((await client.post(secrets, { ...secret({ data: { a: '!!' } }), metadata: { name: 'odd' } })).code).toBe(
      400,
    );
    expect(await client.mergePatch(`${secrets}/s`, { type: 'other' })).toMatchObject(invalid('type'));
  });

  test('keeps data and immutability of an immutable Secret, not its labels', async ({ client, secrets }) => {
    await client.post(secrets, secret({ immutable: true, data: { a: encoded('1') } }));
    const refused = (field: string) => invalid(field, 'FieldValueForbidden');
    const patch = (body: object) => client.mergePatch(`${secrets}/s`, body);
    expect(await patch({ stringData: { a: '2' } })).toMatchObject(refused('data'));
    expect(await patch({ immutable: null })).toMatchObject(refused('immutable'));
    const other = secret({ immutable: true, data: { a: encoded('2') } });
    expect(await client.apply(`${secrets}/s`, 'm', other)).toMatchObject(refused('data'));
    expect((await patch({ metadata: { labels: { a: 'b' } } })).code).toBe(200);
    expect((await client.delete(`${secrets}/s`)).code).toBe(200);
  });

  test('gives a Deployment a generation, replicas and a status', async ({ client, deployments }) => {
    const { body } = await client.post(deployments, { ...deployment(), status: { replicas: 7 } });
    expect(body).toMatchObject({ metadata: { generation: 1 }, spec: { replicas: 1 } });
    expect(body.status?.replicas).toBeUndefined();
    const status = { observedGeneration: 1, replicas: 1, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 1 };
    const ready = await client.mergePatch(`${deployments}/d/status`, { status });
    expect(ready.body).toMatchObject({ status, metadata: { generation: 1 } });
    const scaled = await client.mergePatch(`${deployments}/d`, { spec: { replicas: 2 } });
    expect(scaled.body).toMatchObject({ status, metadata: { generation: 2 } });
    const selector = await client.mergePatch(`${deployments}/d`, { spec: { selector: { matchLabels: { c: 'd' } } } });
    expect(selector.code).toBe(422);
  });

  test('a namespace is active, has its name as a label, and a finalizer in its spec', async ({ client, namespace }) => {
    expect((await client.get(`/api/v1/namespaces/${namespace}`)).body).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': namespace } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
      expect((await client.get(`/api/v1/namespaces/${name}`)).code).toBe(200);
    }
    expect((await client.delete('/api/v1/namespaces/kube-system')).code).toBe(403);
  });

  test('a terminating namespace keeps its objects and rejects new ones', async ({ client, namespace, configMaps }) => {
    const path = `/api/v1/namespaces/${namespace}`;
    await client.post(configMaps, configMap('a'));
    expect((await client.delete(path)).body).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String) },
      status: { phase: 'Terminating' },
    });
    expect(await client.post(configMaps, configMap('b'))).toMatchObject({
      code: 403,
      body: {
        reason: 'Forbidden',
        message: `configmaps "b" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
        details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
      },
    });
    expect((await client.mergePatch(`${configMaps}/a`, { data: { k: 'v' } })).code).toBe(200);
    expect((await client.get(configMaps)).body.items).toHaveLength(1);
  });
}
