import { expect, test } from 'vitest';
import { type Context, configMap } from './context.ts';

const encoded = (text: string) => Buffer.from(text).toString('base64');

/** Tests of the special rules of built-in types. */
export function builtInTests(context: () => Context): void {
  const secret = (more: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, ...more });

  async function secrets(): Promise<string> {
    return `/api/v1/namespaces/${await context().namespace()}/secrets`;
  }

  test('moves stringData of a Secret into data', async () => {
    const path = await secrets();
    const { body } = await context().client.post(path, secret({ data: { b: encoded('2') }, stringData: { a: '1' } }));
    expect(body).toMatchObject({ type: 'Opaque', data: { a: encoded('1'), b: encoded('2') } });
    expect(body.stringData).toBeUndefined();
    const patched = await context().client.mergePatch(`${path}/s`, { stringData: { a: '3' } });
    expect(patched.body.data).toEqual({ a: encoded('3'), b: encoded('2') });
  });

  test('requires base64 in the data of a Secret', async () => {
    const refused = await context().client.post(await secrets(), secret({ data: { a: '!!' } }));
    expect(refused).toMatchObject({ code: 400, body: { reason: 'BadRequest' } });
  });

  test('rejects another type for a Secret', async () => {
    const path = await secrets();
    await context().client.post(path, secret({}));
    expect(await context().client.mergePatch(`${path}/s`, { type: 'other' })).toMatchObject({
      code: 422,
      body: { details: { causes: [{ field: 'type' }] } },
    });
  });

  test('keeps data and immutability of an immutable Secret, not its labels', async () => {
    const { client } = context();
    const path = await secrets();
    await client.post(path, secret({ immutable: true, data: { a: encoded('1') } }));
    const refused = (field: string) => ({
      code: 422,
      body: { reason: 'Invalid', details: { causes: [{ reason: 'FieldValueForbidden', field }] } },
    });
    expect(await client.mergePatch(`${path}/s`, { stringData: { a: '2' } })).toMatchObject(refused('data'));
    expect(await client.mergePatch(`${path}/s`, { immutable: null })).toMatchObject(refused('immutable'));
    expect(
      await client.apply(`${path}/s`, 'm', secret({ immutable: true, data: { a: encoded('2') } }), { force: 'true' }),
    ).toMatchObject(refused('data'));
    expect((await client.mergePatch(`${path}/s`, { metadata: { labels: { a: 'b' } } })).code).toBe(200);
    expect((await client.delete(`${path}/s`)).code).toBe(200);
  });

  test('keeps data and immutability of an immutable ConfigMap', async () => {
    const { client } = context();
    const path = await context().configMaps();
    await client.post(path, { ...configMap('a', { k: 'v' }), immutable: true });
    expect((await client.mergePatch(`${path}/a`, { data: { k: 'w' } })).code).toBe(422);
  });

  test('selects Secrets by type', async () => {
    const path = await secrets();
    await context().client.post(path, secret({ type: 'example.com/a' }));
    const list = (type: string) => context().client.get(path, { query: { fieldSelector: `type=${type}` } });
    expect((await list('example.com/a')).body.items).toHaveLength(1);
    expect((await list('Opaque')).body.items).toHaveLength(0);
  });

  test('gives a Deployment a generation, defaults and a status', async () => {
    const { client } = context();
    const path = `/apis/apps/v1/namespaces/${await context().namespace()}/deployments`;
    const { body } = await client.post(path, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'x' }] } },
      },
      status: { replicas: 7 },
    });
    expect(body).toMatchObject({
      metadata: { generation: 1 },
      spec: { replicas: 1, strategy: { type: 'RollingUpdate' } },
    });
    expect(body.status.replicas).toBeUndefined();
    const status = { observedGeneration: 1, replicas: 1, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 1 };
    const ready = await client.mergePatch(`${path}/d/status`, { status });
    expect(ready.body).toMatchObject({ status, metadata: { generation: 1 } });
    const scaled = await client.mergePatch(`${path}/d`, { spec: { replicas: 2 } });
    expect(scaled.body).toMatchObject({ status, metadata: { generation: 2 } });
    const selector = await client.mergePatch(`${path}/d`, { spec: { selector: { matchLabels: { c: 'd' } } } });
    expect(selector.code).toBe(422);
  });

  test.each([
    ['events', 'api/v1', 'Event', { involvedObject: {}, reason: 'R', message: 'm', type: 'Normal' }],
    ['serviceaccounts', 'api/v1', 'ServiceAccount', {}],
    ['services', 'api/v1', 'Service', { spec: { ports: [{ port: 80 }] } }],
    ['resourcequotas', 'api/v1', 'ResourceQuota', { spec: { hard: { pods: '1' } } }],
    ['leases', 'apis/coordination.k8s.io/v1', 'Lease', { spec: { holderIdentity: 'a' } }],
    ['networkpolicies', 'apis/networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: {} } }],
    ['roles', 'apis/rbac.authorization.k8s.io/v1', 'Role', {}],
  ])('%s are served', async (plural, api, kind, more) => {
    const { client } = context();
    const namespace = await context().namespace();
    const filled = plural === 'events' ? { ...more, involvedObject: { namespace, kind: 'X', name: 'x' } } : more;
    const apiVersion = api.replace(/^apis?\//, '');
    const path = `/${api}/namespaces/${namespace}/${plural}`;
    const { code, body } = await client.post(path, { apiVersion, kind, metadata: { name: 'a' }, ...filled });
    expect(code, JSON.stringify(body)).toBe(201);
    expect((await client.get(`${path}/a`)).body).toMatchObject({ apiVersion, kind });
    expect((await client.get(path)).body).toMatchObject({ kind: `${kind}List`, apiVersion });
    expect((await client.delete(`${path}/a`)).code).toBe(200);
  });

  test('rejects another role for a binding', async () => {
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${await context().namespace()}/rolebindings`;
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'b' },
      roleRef,
    };
    expect((await context().client.post(path, binding)).code).toBe(201);
    expect((await context().client.mergePatch(`${path}/b`, { roleRef: { name: 'other' } })).code).toBe(422);
  });
}
