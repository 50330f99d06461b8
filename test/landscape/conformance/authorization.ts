import { expect, test } from 'vitest';
import { applyType } from './client.ts';
import { type Context, configMap, eventually, unique } from './context.ts';

const rbac = 'rbac.authorization.k8s.io';

/** Tests of RBAC, for a user whose only rights are those that a test grants. */
export function authorizationTests(context: () => Context): void {
  const token = () => context().server.limitedToken ?? '';
  const subjects = [{ apiGroup: rbac, kind: 'User', name: 'limited' }];

  async function granted(rules: object[], namespace: string): Promise<void> {
    const { client } = context();
    const name = unique();
    const path = `/apis/${rbac}/v1/namespaces/${namespace}`;
    const of = (kind: string) => ({ apiVersion: `${rbac}/v1`, kind, metadata: { name } });
    expect((await client.post(`${path}/roles`, { ...of('Role'), rules })).code).toBe(201);
    const roleRef = { apiGroup: rbac, kind: 'Role', name };
    expect((await client.post(`${path}/rolebindings`, { ...of('RoleBinding'), roleRef, subjects })).code).toBe(201);
  }

  const skip = () => token() === '';

  test('forbids a request without a grant, in these words', async ({ skip: skipTest }) => {
    if (skip()) return skipTest('this server authorizes everybody');
    const path = await context().configMaps();
    const namespace = path.split('/')[4];
    expect(await context().client.get(path, { token: token() })).toMatchObject({
      code: 403,
      body: {
        reason: 'Forbidden',
        message: `configmaps is forbidden: User "limited" cannot list resource "configmaps" in API group "" in the namespace "${namespace}"`,
        details: { kind: 'configmaps' },
      },
    });
    expect((await context().client.get('/api/v1/secrets', { token: token() })).body.message).toContain(
      'cannot list resource "secrets" in API group "" at the cluster scope',
    );
  });

  test('grants the verbs of a Role in its namespace, and only for its resource names', async ({ skip: skipTest }) => {
    if (skip()) return skipTest('this server authorizes everybody');
    const { client } = context();
    const path = await context().configMaps();
    const namespace = path.split('/')[4] ?? '';
    await client.post(path, configMap('a'));
    await client.post(path, configMap('b'));
    await granted(
      [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] },
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch'], resourceNames: ['a'] },
      ],
      namespace,
    );
    await eventually(async () => {
      expect((await client.get(path, { token: token() })).code).toBe(200);
      expect((await client.get(`${path}/a`, { token: token() })).code).toBe(200);
    });
    expect((await client.get(`${path}/b`, { token: token() })).code).toBe(403);
    expect((await client.mergePatch(`${path}/a`, { data: { k: 'v' } }, { token: token() })).code).toBe(200);
    expect((await client.put(`${path}/a`, configMap('a'), { token: token() })).code).toBe(403);
    expect((await client.delete(`${path}/a`, { token: token() })).code).toBe(403);
    expect((await client.get(await context().configMaps(), { token: token() })).code).toBe(403);
  });

  test('grants a list by resource name when the field selector names the object', async ({ skip: skipTest }) => {
    if (skip()) return skipTest('this server authorizes everybody');
    const { client } = context();
    const path = await context().configMaps();
    await client.post(path, configMap('a'));
    const list = (name: string) =>
      client.get(path, { query: { fieldSelector: `metadata.name=${name}` }, token: token() });
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'], resourceNames: ['a'] }];
    await granted(rules, path.split('/')[4] ?? '');
    await eventually(async () => {
      const { code, body } = await list('a');
      expect({ code, items: body.items }).toMatchObject({ code: 200, items: [{ metadata: { name: 'a' } }] });
    });
    expect((await list('b')).code).toBe(403);
    expect((await client.get(path, { token: token() })).code).toBe(403);
  });

  test('requires both rights for an apply that creates, and names the object', async ({ skip: skipTest }) => {
    if (skip()) return skipTest('this server authorizes everybody');
    const { client } = context();
    const path = await context().configMaps();
    const namespace = path.split('/')[4] ?? '';
    const rule = { apiGroups: [''], resources: ['configmaps'] };
    const apply = (name: string) =>
      client.send('PATCH', `${path}/${name}`, {
        body: configMap(name),
        contentType: applyType,
        query: { fieldManager: 'me' },
        token: token(),
      });
    await granted([{ ...rule, verbs: ['patch'] }], namespace);
    await eventually(async () => {
      expect(await apply('a')).toMatchObject({
        code: 403,
        body: { message: expect.stringContaining('User "limited" cannot create resource "configmaps"') },
      });
    });
    await granted([{ ...rule, verbs: ['create'], resourceNames: ['a'] }], namespace);
    await eventually(async () => {
      expect((await apply('a')).code).toBe(201);
    });
    expect((await apply('b')).code).toBe(403);
    expect((await client.post(path, configMap('c'), { token: token() })).code).toBe(403);
  });

  test('grants subresources separately', async ({ skip: skipTest }) => {
    if (skip()) return skipTest('this server authorizes everybody');
    const { client, group } = context();
    const path = await context().things();
    await client.post(path, context().thing('a', { size: 1 }));
    await granted([{ apiGroups: [group], resources: ['things/status'], verbs: ['patch'] }], path.split('/')[5] ?? '');
    await eventually(async () => {
      expect((await client.mergePatch(`${path}/a/status`, { status: { x: 1 } }, { token: token() })).code).toBe(200);
    });
    expect((await client.mergePatch(`${path}/a`, { spec: { size: 2 } }, { token: token() })).code).toBe(403);
  });

  test('grants in all namespaces with a ClusterRoleBinding', async ({ skip: skipTest }) => {
    if (skip()) return skipTest('this server authorizes everybody');
    const { client } = context();
    const name = unique();
    const of = (kind: string) => ({ apiVersion: `${rbac}/v1`, kind, metadata: { name } });
    const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['*'], verbs: ['list', 'watch'] }];
    await client.post(`/apis/${rbac}/v1/clusterroles`, { ...of('ClusterRole'), rules });
    const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name };
    await client.post(`/apis/${rbac}/v1/clusterrolebindings`, { ...of('ClusterRoleBinding'), roleRef, subjects });
    await eventually(async () => {
      expect((await client.get('/apis/coordination.k8s.io/v1/leases', { token: token() })).code).toBe(200);
    });
  });
}
