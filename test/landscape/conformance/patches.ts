import { expect, test } from 'vitest';
import { jsonPatchType, mergeType, strategicType } from './client.ts';
import { type Context, configMap } from './context.ts';

/** Tests of JSON patch, merge patch and strategic merge patch. */
export function patchTests(context: () => Context): void {
  async function existing(): Promise<string> {
    const path = await context().configMaps();
    await context().client.post(path, configMap('a', { k: 'v', l: 'w' }, { labels: { a: '1', 'b/c': '2' } }));
    return `${path}/a`;
  }

  test('sets fields, and removes them by null, with a merge patch', async () => {
    const { client } = context();
    const path = await existing();
    const patched = await client.mergePatch(path, { data: { k: null, m: 'x' }, metadata: { labels: { a: null } } });
    expect(patched).toMatchObject({
      code: 200,
      body: { data: { l: 'w', m: 'x' }, metadata: { labels: { 'b/c': '2' } } },
    });
    expect(patched.body.data.k).toBeUndefined();
    expect(patched.body.metadata.labels.a).toBeUndefined();
  });

  test('tests, adds, replaces, moves, copies and removes with a JSON patch', async () => {
    const body = [
      { op: 'test', path: '/data/k', value: 'v' },
      { op: 'add', path: '/data/n', value: 'new' },
      { op: 'replace', path: '/data/k', value: 'other' },
      { op: 'move', from: '/data/l', path: '/data/moved' },
      { op: 'copy', from: '/data/k', path: '/data/copy' },
      { op: 'remove', path: '/metadata/labels/b~1c' },
      { op: 'add', path: '/metadata/finalizers', value: ['example.com/a'] },
      { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/c' },
      { op: 'add', path: '/metadata/finalizers/1', value: 'example.com/b' },
      { op: 'remove', path: '/metadata/finalizers/0' },
    ];
    const patched = await context().client.send('PATCH', await existing(), { body, contentType: jsonPatchType });
    expect(patched).toMatchObject({ code: 200 });
    expect(patched.body.data).toEqual({ k: 'other', n: 'new', moved: 'w', copy: 'other' });
    expect(patched.body.metadata).toMatchObject({ labels: { a: '1' }, finalizers: ['example.com/b', 'example.com/c'] });
  });

  test('rejects a JSON patch as a whole when a test fails or a path is missing', async () => {
    const path = await existing();
    const send = (body: object) => context().client.send('PATCH', path, { body, contentType: jsonPatchType });
    const add = { op: 'add', path: '/data/n', value: 'new' };
    const refused = { code: 422, body: { reason: 'Invalid' } };
    expect(await send([add, { op: 'test', path: '/data/k', value: 'no' }])).toMatchObject(refused);
    expect(await send([add, { op: 'remove', path: '/data/none' }])).toMatchObject(refused);
    expect(await send({})).toMatchObject({ code: 400, body: { reason: 'BadRequest' } });
    expect((await context().client.get(path)).body.data).toEqual({ k: 'v', l: 'w' });
  });

  test('checks the resourceVersion in a JSON patch', async () => {
    const { client } = context();
    const path = await existing();
    const { resourceVersion } = (await client.get(path)).body.metadata;
    const guarded = [
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'remove', path: '/metadata/labels/a' },
    ];
    const send = () => client.send('PATCH', path, { body: guarded, contentType: jsonPatchType });
    expect((await send()).code).toBe(200);
    expect((await send()).code).toBe(422);
  });

  test('rejects other types of patches', async () => {
    const path = await existing();
    expect(await context().client.send('PATCH', path, { body: {}, contentType: 'text/plain' })).toMatchObject({
      code: 415,
    });
    const things = await context().things();
    await context().client.post(things, context().thing('a', { size: 1 }));
    expect(await context().client.send('PATCH', `${things}/a`, { body: {}, contentType: strategicType })).toMatchObject(
      {
        code: 415,
        body: { reason: 'UnsupportedMediaType' },
      },
    );
  });

  test('rejects a patch of the name', async () => {
    const patched = await context().client.mergePatch(await existing(), { metadata: { name: 'b' } });
    expect(patched).toMatchObject({ code: 400, body: { reason: 'BadRequest' } });
  });

  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: {
          containers: [
            { name: 'one', image: 'x:1', args: ['--a'], env: [{ name: 'A', value: '1' }] },
            { name: 'two', image: 'y:1' },
          ],
        },
      },
    },
  };

  async function deployed(): Promise<string> {
    const path = `/apis/apps/v1/namespaces/${await context().namespace()}/deployments`;
    await context().client.post(path, deployment);
    return `${path}/d`;
  }

  test('merges containers by name with a strategic merge patch', async () => {
    const containers = [{ name: 'one', image: 'x:2', env: [{ name: 'B', value: '2' }] }];
    const body = { spec: { template: { spec: { containers } } } };
    const patched = await context().client.send('PATCH', await deployed(), { body, contentType: strategicType });
    expect(patched.body.spec.template.spec.containers).toMatchObject([
      {
        name: 'one',
        image: 'x:2',
        args: ['--a'],
        env: [
          { name: 'B', value: '2' },
          { name: 'A', value: '1' },
        ],
      },
      { name: 'two', image: 'y:1' },
    ]);
  });

  test('deletes items, and replaces lists without a key, with a strategic merge patch', async () => {
    const containers = [
      { name: 'two', $patch: 'delete' },
      { name: 'one', args: ['--b'] },
    ];
    const body = { spec: { template: { spec: { containers } } } };
    const patched = await context().client.send('PATCH', await deployed(), { body, contentType: strategicType });
    expect(patched.body.spec.template.spec.containers).toMatchObject([{ name: 'one', image: 'x:1', args: ['--b'] }]);
  });

  test('replaces lists as a whole with a merge patch', async () => {
    const body = { spec: { template: { spec: { containers: [{ name: 'one', image: 'x:2' }] } } } };
    const patched = await context().client.send('PATCH', await deployed(), { body, contentType: mergeType });
    expect(patched.body.spec.template.spec.containers).toHaveLength(1);
    expect(patched.body.spec.template.spec.containers[0].args).toBeUndefined();
  });
}
