import { ApisApi, CoreApi, KubeConfig } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import type { Context } from './context.ts';

/** Tests of health, version and discovery. */
export function discoveryTests(context: () => Context): void {
  test('reports health and version', async () => {
    const { client } = context();
    expect(await client.get('/healthz')).toMatchObject({ code: 200, body: 'ok' });
    expect(await client.get('/readyz')).toMatchObject({ code: 200, body: 'ok' });
    expect(await client.get('/version')).toMatchObject({ code: 200, body: { major: '1', gitVersion: /^v1\./ } });
  });

  test('lists groups, versions and resources', async () => {
    const { client } = context();
    expect((await client.get('/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const groups = await client.get('/apis');
    const names = groups.body.groups.map(({ name }: { name: string }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'apps',
        'batch',
        'events.k8s.io',
        'networking.k8s.io',
        'rbac.authorization.k8s.io',
        'coordination.k8s.io',
        'scheduling.k8s.io',
        'admissionregistration.k8s.io',
        'apiextensions.k8s.io',
      ]),
    );
    const apps = groups.body.groups.find(({ name }: { name: string }) => name === 'apps');
    expect(apps.preferredVersion).toEqual({ groupVersion: 'apps/v1', version: 'v1' });
    const { body } = await client.get('/api/v1');
    expect(body).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
    expect(body.resources).toContainEqual(
      expect.objectContaining({ name: 'configmaps', namespaced: true, kind: 'ConfigMap', shortNames: ['cm'] }),
    );
    const namespaces = body.resources.find(({ name }: { name: string }) => name === 'namespaces');
    expect(namespaces.verbs.toSorted()).toEqual(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']);
  });

  test("Kubernetes' own client finds its way", async () => {
    const { server } = context();
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [{ name: 'a', server: server.url, caData: Buffer.from(server.ca).toString('base64') }],
      users: [{ name: 'a', token: server.token }],
      contexts: [{ name: 'a', cluster: 'a', user: 'a' }],
      currentContext: 'a',
    });
    expect((await config.makeApiClient(CoreApi).getAPIVersions()).versions).toEqual(['v1']);
    expect((await config.makeApiClient(ApisApi).getAPIVersions()).groups.length).toBeGreaterThan(5);
  });

  test('lists a custom resource in all of its versions', async () => {
    const { client, group } = context();
    expect((await client.get(`/apis/${group}`)).body).toMatchObject({
      kind: 'APIGroup',
      versions: [{ version: 'v1' }, { version: 'v1beta1' }],
      preferredVersion: { version: 'v1' },
    });
    const { body } = await client.get(`/apis/${group}/v1beta1`);
    expect(body.resources).toContainEqual(
      expect.objectContaining({ name: 'things', singularName: 'thing', kind: 'Thing', namespaced: true }),
    );
    expect(body.resources).toContainEqual(expect.objectContaining({ name: 'things/status' }));
    expect(body.resources).not.toContainEqual(expect.objectContaining({ name: 'plains/status' }));
  });

  test('answers unknown users with 401 and unknown paths with 404', async () => {
    const { client, group } = context();
    expect(await client.get('/api/v1/namespaces', { token: 'unknown' })).toMatchObject({
      code: 401,
      body: { kind: 'Status', reason: 'Unauthorized', code: 401 },
    });
    expect(await client.get('/api/v1/nothings')).toMatchObject({ code: 404, body: { reason: 'NotFound' } });
    expect(await client.get('/apis/nowhere.example.com/v1/things')).toMatchObject({ code: 404 });
    expect(await client.get(`/apis/${group}/v1/namespaces/default/things/a/scale`)).toMatchObject({ code: 404 });
    expect(await client.put('/api/v1/namespaces/default/configmaps', {})).toMatchObject({
      code: 405,
      body: { reason: 'MethodNotAllowed' },
    });
    expect(await client.delete('/api/v1/namespaces')).toMatchObject({ code: 405 });
  });
}
