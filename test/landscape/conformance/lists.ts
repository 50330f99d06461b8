import { expect, test } from 'vitest';
import type { Body } from './client.ts';
import { type Context, configMap } from './context.ts';

const names = (body: Body): string[] => body.items.map((item: Body) => item.metadata.name);

/** Tests of lists, selectors and pages. */
export function listTests(context: () => Context): void {
  async function filled(): Promise<string> {
    const path = await context().configMaps();
    const labels = [{ app: 'a', tier: '1' }, { app: 'b', tier: '1' }, { app: 'c' }, {}];
    for (const [index, each] of labels.entries()) {
      await context().client.post(path, configMap(`cm${index}`, {}, { labels: each }));
    }
    return path;
  }

  test('returns kind, resourceVersion and items sorted by name', async () => {
    const path = await filled();
    const { code, body } = await context().client.get(path);
    expect(code).toBe(200);
    expect(body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(names(body)).toEqual(['cm0', 'cm1', 'cm2', 'cm3']);
    expect(body.items[0].kind).toBeUndefined();
    const versions = body.items.map((item: Body) => Number(item.metadata.resourceVersion));
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThanOrEqual(Math.max(...versions));
  });

  test('lists all namespaces', async () => {
    const path = await filled();
    const { body } = await context().client.get('/api/v1/configmaps');
    const namespace = path.split('/')[4];
    const mine = body.items.filter((item: Body) => item.metadata.namespace === namespace);
    expect(names({ items: mine })).toEqual(['cm0', 'cm1', 'cm2', 'cm3']);
  });

  test.each([
    ['app=a', ['cm0']],
    ['app==a', ['cm0']],
    ['app!=a', ['cm1', 'cm2', 'cm3']],
    ['app in (a, b)', ['cm0', 'cm1']],
    ['app notin (a,b)', ['cm2', 'cm3']],
    ['app', ['cm0', 'cm1', 'cm2']],
    ['!app', ['cm3']],
    ['app in (a,b),tier=1,app!=b', ['cm0']],
    ['tier', ['cm0', 'cm1']],
  ])('label selector %s', async (labelSelector, expected) => {
    const path = await filled();
    expect(names((await context().client.get(path, { query: { labelSelector } })).body)).toEqual(expected);
  });

  test.each([
    ['metadata.name=cm1', ['cm1']],
    ['metadata.name!=cm1', ['cm0', 'cm2', 'cm3']],
    ['metadata.name=cm1,metadata.name=cm2', []],
  ])('field selector %s', async (fieldSelector, expected) => {
    const path = await filled();
    expect(names((await context().client.get(path, { query: { fieldSelector } })).body)).toEqual(expected);
  });

  test('selects by namespace over all namespaces', async () => {
    const namespace = (await filled()).split('/')[4];
    const fieldSelector = `metadata.namespace=${namespace},metadata.name=cm2`;
    expect(names((await context().client.get('/api/v1/configmaps', { query: { fieldSelector } })).body)).toEqual([
      'cm2',
    ]);
  });

  test('answers invalid selectors with 400', async () => {
    const path = await context().configMaps();
    const bad = { code: 400, body: { reason: 'BadRequest' } };
    expect(await context().client.get(path, { query: { fieldSelector: 'data.x=1' } })).toMatchObject(bad);
    expect(await context().client.get(path, { query: { labelSelector: '==' } })).toMatchObject(bad);
    const things = await context().things();
    expect(await context().client.get(things, { query: { fieldSelector: 'spec.size=1' } })).toMatchObject(bad);
  });

  test('pages through the list as of the first page', async () => {
    const { client } = context();
    const path = await filled();
    const first = await client.get(path, { query: { limit: '2' } });
    expect(names(first.body)).toEqual(['cm0', 'cm1']);
    expect(first.body.metadata).toMatchObject({ continue: expect.stringMatching(/./), remainingItemCount: 2 });

    await client.delete(`${path}/cm2`);
    await client.mergePatch(`${path}/cm3`, { data: { changed: 'yes' } });
    await client.post(path, configMap('cm25'));
    const second = await client.get(path, { query: { limit: '2', continue: first.body.metadata.continue } });
    expect(names(second.body)).toEqual(['cm2', 'cm3']);
    expect(second.body.items[1].data).toBeUndefined();
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
    expect(second.body.metadata.continue ?? '').toBe('');
    expect(names((await client.get(path)).body)).toEqual(['cm0', 'cm1', 'cm25', 'cm3']);
  });

  test('pages through a selection', async () => {
    const path = await filled();
    const query = { labelSelector: 'app', limit: '2' };
    const first = await context().client.get(path, { query });
    expect(names(first.body)).toEqual(['cm0', 'cm1']);
    expect(first.body.metadata.remainingItemCount).toBeUndefined();
    const second = await context().client.get(path, { query: { ...query, continue: first.body.metadata.continue } });
    expect(names(second.body)).toEqual(['cm2']);
  });

  test('lists at an exact resourceVersion', async () => {
    const { client } = context();
    const path = await filled();
    const { resourceVersion } = (await client.get(path)).body.metadata;
    await client.delete(`${path}/cm0`);
    const then = await client.get(path, { query: { resourceVersion, resourceVersionMatch: 'Exact' } });
    expect(names(then.body)).toEqual(['cm0', 'cm1', 'cm2', 'cm3']);
    expect(then.body.metadata.resourceVersion).toBe(resourceVersion);
  });

  test('rejects invalid continue tokens and versions', async () => {
    const { client } = context();
    const path = await context().configMaps();
    expect(await client.get(path, { query: { continue: 'abc' } })).toMatchObject({ code: 400 });
    expect(await client.get(path, { query: { resourceVersion: 'abc' } })).toMatchObject({ code: 400 });
    expect(await client.get(path, { query: { resourceVersion: '999999999' } })).toMatchObject({
      code: 504,
      body: { reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
    });
  });
}
