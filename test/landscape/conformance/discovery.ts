import { expect } from 'vitest';
import type { Test } from './context.ts';

/** Tests of health, version and discovery. */
export function discoveryTests(test: Test): void {
  test('reports health and version', async ({ client }) => {
    expect(await client.get('/healthz')).toMatchObject({ code: 200, body: 'ok' });
    expect(await client.get('/readyz')).toMatchObject({ code: 200, body: 'ok' });
    expect(await client.get('/version')).toMatchObject({ code: 200, body: { major: '1', gitVersion: /^v1\./ } });
  });

  test('lists groups, versions and resources', async ({ client }) => {
    expect((await client.get('/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const groups = await client.get('/apis');
    const apps = groups.body.groups.find(({ name }: { name: string }) => name === 'apps');
    expect(apps.preferredVersion).toEqual({ groupVersion: 'apps/v1', version: 'v1' });
    const { body } = await client.get('/api/v1');
    expect(body).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
    expect(body.resources).toContainEqual(
      expect.objectContaining({ name: 'configmaps', namespaced: true, kind: 'ConfigMap' }),
    );
  });

  test('lists a custom resource in all of its versions', async ({ client, group }) => {
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
  });

  test('answers unknown users with 401 and unknown paths with 404', async ({ client, things, configMaps }) => {
    expect(await client.get('/api/v1/namespaces', { token: 'unknown' })).toMatchObject({
      code: 401,
      body: { kind: 'Status', reason: 'Unauthorized', code: 401 },
    });
    expect(await client.get('/api/v1/nothings')).toMatchObject({ code: 404, body: { reason: 'NotFound' } });
    expect(await client.get('/apis/nowhere.example.com/v1/things')).toMatchObject({ code: 404 });
    expect(await client.get(`${things}/a/scale`)).toMatchObject({ code: 404 });
    expect(await client.put(configMaps, {})).toMatchObject({ code: 405, body: { reason: 'MethodNotAllowed' } });
  });
}
