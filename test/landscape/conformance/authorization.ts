import { expect } from 'vitest';
import { configMap, eventually, type Place, type Test, unique } from './context.ts';

const rbac = 'rbac.authorization.k8s.io';
const subjects = [{ apiGroup: rbac, kind: 'User', name: 'limited' }];
const of = (kind: string, name: string) => ({ apiVersion: `${rbac}/v1`, kind, metadata: { name } });

/** Grants the limited user the rules in the namespace. */
async function grant({ client, namespace }: Place, rules: object[]): Promise<void> {
  const name = unique();
  const path = `/apis/${rbac}/v1/namespaces/${namespace}`;
  expect((await client.post(`${path}/roles`, { ...of('Role', name), rules })).code).toBe(201);
  const roleRef = { apiGroup: rbac, kind: 'Role', name };
  const binding = { ...of('RoleBinding', name), roleRef, subjects };
  expect((await client.post(`${path}/rolebindings`, binding)).code).toBe(201);
}

/** Tests of RBAC, for a user whose only rights are those that a test grants. */
export function authorizationTests(base: Test): void {
  const test = (title: string, check: (token: string, place: Place) => Promise<void>) =>
    base(title, async (place) => {
      const { limitedToken } = place.server;
      if (limitedToken === undefined) return place.skip('this server authorizes everybody');
      await check(limitedToken, place);
    });

  test('forbids a request without a grant, in these words', async (token, { client, configMaps, namespace }) => {
    expect(await client.get(configMaps, { token })).toMatchObject({
      code: 403,
      body: {
        reason: 'Forbidden',
        message: `configmaps is forbidden: User "limited" cannot list resource "configmaps" in API group "" in the namespace "${namespace}"`,
        details: { kind: 'configmaps' },
      },
    });
    expect((await client.get('/api/v1/secrets', { token })).body.message).toContain(
      'cannot list resource "secrets" in API group "" at the cluster scope',
    );
  });

  test('grants the verbs of a Role in its namespace, and only for its resource names', async (token, place) => {
    const { client, configMaps } = place;
    await client.post(configMaps, configMap('a'));
    await client.post(configMaps, configMap('b'));
    await grant(place, [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch'], resourceNames: ['a'] },
    ]);
    await eventually(async () => {
      expect((await client.get(configMaps, { token })).code).toBe(200);
      expect((await client.get(`${configMaps}/a`, { token })).code).toBe(200);
    });
    expect((await client.get(`${configMaps}/b`, { token })).code).toBe(403);
    expect((await client.mergePatch(`${configMaps}/a`, { data: { k: 'v' } }, { token })).code).toBe(200);
    expect((await client.put(`${configMaps}/a`, configMap('a'), { token })).code).toBe(403);
    expect((await client.delete(`${configMaps}/a`, { token })).code).toBe(403);
    expect((await client.get('/api/v1/namespaces/default/configmaps', { token })).code).toBe(403);
  });

  test('grants a list by resource name when the field selector names the object', async (token, place) => {
    const { client, configMaps } = place;
    await client.post(configMaps, configMap('a'));
    const list = (name: string) => client.get(configMaps, { query: { fieldSelector: `metadata.name=${name}` }, token });
    await grant(place, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'], resourceNames: ['a'] }]);
    await eventually(async () => {
      expect(await list('a')).toMatchObject({ code: 200, body: { items: [{ metadata: { name: 'a' } }] } });
    });
    expect((await list('b')).code).toBe(403);
    expect((await client.get(configMaps, { token })).code).toBe(403);
  });

  test('requires both rights for an apply that creates, and names the object', async (token, place) => {
    const { client, configMaps } = place;
    const rule = { apiGroups: [''], resources: ['configmaps'] };
    const apply = (name: string) => client.apply(`${configMaps}/${name}`, 'me', configMap(name), { token });
    await grant(place, [{ ...rule, verbs: ['patch'] }]);
    await eventually(async () => {
      expect(await apply('a')).toMatchObject({
        code: 403,
        body: { message: expect.stringContaining('User "limited" cannot create resource "configmaps"') },
      });
    });
    await grant(place, [{ ...rule, verbs: ['create'], resourceNames: ['a'] }]);
    await eventually(async () => expect((await apply('a')).code).toBe(201));
    expect((await apply('b')).code).toBe(403);
    expect((await client.post(configMaps, configMap('c'), { token })).code).toBe(403);
  });

  test('grants subresources separately', async (token, place) => {
    const { client, group, things, thing } = place;
    await client.post(things, thing('a', { size: 1 }));
    await grant(place, [{ apiGroups: [group], resources: ['things/status'], verbs: ['patch'] }]);
    await eventually(async () => {
      expect((await client.mergePatch(`${things}/a/status`, { status: { x: 1 } }, { token })).code).toBe(200);
    });
    expect((await client.mergePatch(`${things}/a`, { spec: { size: 2 } }, { token })).code).toBe(403);
  });

  test('grants in all namespaces with a ClusterRoleBinding', async (token, { client }) => {
    const name = unique();
    const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['*'], verbs: ['list', 'watch'] }];
    await client.post(`/apis/${rbac}/v1/clusterroles`, { ...of('ClusterRole', name), rules });
    const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name };
    await client.post(`/apis/${rbac}/v1/clusterrolebindings`, { ...of('ClusterRoleBinding', name), roleRef, subjects });
    await eventually(async () => {
      expect((await client.get('/apis/coordination.k8s.io/v1/leases', { token })).code).toBe(200);
    });
  });
}
