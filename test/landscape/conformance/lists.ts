import { expect } from 'vitest';
import type { Body } from './client.ts';
import { badRequest, configMap, type Place, type Test } from './context.ts';

const names = (body: Body): string[] => body.items.map((item: Body) => item.metadata.name);

/** Tests of lists, selectors and pages. */
export function listTests(base: Test): void {
  const labels = [{ app: 'a', tier: '1' }, { app: 'b', tier: '1' }, { app: 'c' }, {}];
  const test = (title: string, check: (place: Place) => Promise<void>) =>
    base(title, async (place) => {
      for (const [index, each] of labels.entries()) {
        await place.client.post(place.configMaps, configMap(`cm${index}`, {}, { labels: each }));
      }
      await check(place);
    });

  test('returns kind, resourceVersion and items sorted by name', async ({ client, configMaps, namespace }) => {
    const { code, body } = await client.get(configMaps);
    expect(code).toBe(200);
    expect(body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(names(body)).toEqual(['cm0', 'cm1', 'cm2', 'cm3']);
    expect(body.items[0].kind).toBeUndefined();
    const versions = body.items.map((item: Body) => Number(item.metadata.resourceVersion));
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThanOrEqual(Math.max(...versions));
    const all = (await client.get('/api/v1/configmaps')).body.items;
    const mine = all.filter((item: Body) => item.metadata.namespace === namespace);
    expect(names({ items: mine })).toEqual(['cm0', 'cm1', 'cm2', 'cm3']);
  });

  for (const [selector, expected] of [
    [{ labelSelector: 'app=a' }, ['cm0']],
    [{ labelSelector: 'app in (a, b)' }, ['cm0', 'cm1']],
    [{ labelSelector: 'app in (b,c),tier=1' }, ['cm1']],
    [{ fieldSelector: 'metadata.name=cm1' }, ['cm1']],
    [{ fieldSelector: 'metadata.name!=cm1' }, ['cm0', 'cm2', 'cm3']],
    [{ fieldSelector: 'metadata.name=cm1,metadata.name=cm2' }, []],
  ] as const) {
    test(`selector ${Object.values(selector)}`, async ({ client, configMaps }) => {
      expect(names((await client.get(configMaps, { query: selector })).body)).toEqual(expected);
    });
  }

  test('answers invalid selectors with 400', async ({ client, configMaps, things }) => {
    expect(await client.get(configMaps, { query: { fieldSelector: 'data.x=1' } })).toMatchObject(badRequest);
    expect(await client.get(configMaps, { query: { labelSelector: '==' } })).toMatchObject(badRequest);
    expect(await client.get(things, { query: { fieldSelector: 'spec.size=1' } })).toMatchObject(badRequest);
  });

  test('pages through the list as of the first page', async ({ client, configMaps }) => {
    const first = await client.get(configMaps, { query: { limit: '2' } });
    expect(names(first.body)).toEqual(['cm0', 'cm1']);
    await client.delete(`${configMaps}/cm2`);
    await client.mergePatch(`${configMaps}/cm3`, { data: { changed: 'yes' } });
    await client.post(configMaps, configMap('cm25'));
    const second = await client.get(configMaps, { query: { limit: '2', continue: first.body.metadata.continue } });
    expect(names(second.body)).toEqual(['cm2', 'cm3']);
    expect(second.body.items[1].data).toBeUndefined();
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
    expect(second.body.metadata.continue ?? '').toBe('');
    expect(names((await client.get(configMaps)).body)).toEqual(['cm0', 'cm1', 'cm25', 'cm3']);
  });

  test('pages through a selection', async ({ client, configMaps }) => {
    const query = { labelSelector: 'app in (a,b,c)', limit: '2' };
    const first = await client.get(configMaps, { query });
    expect(names(first.body)).toEqual(['cm0', 'cm1']);
    const second = await client.get(configMaps, { query: { ...query, continue: first.body.metadata.continue } });
    expect(names(second.body)).toEqual(['cm2']);
  });
}
