import { readFileSync } from 'node:fs';
import { beforeAll, expect, test as vitestTest } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { testData, testDataMissing } from '../test-data.ts';
import { type Context, crdPath, install, type Test } from './context.ts';

const files = [
  'gardener/10-crd-extensions.gardener.cloud_extensions.yaml',
  'flux/v2.9.4/source-controller.yaml',
  'flux/v2.9.4/kustomize-controller.yaml',
].map((file) => testData(file));

/** Tests of Gardener's and Flux' own CRDs. */
export function landscapeCrdTests(test: Test, context: () => Context): void {
  const present = files.filter((file) => file !== undefined);
  if (present.length < files.length) {
    vitestTest.skip(testDataMissing);
    return;
  }

  beforeAll(async () => {
    const definitions = present
      .flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS()))
      .filter((object) => object?.kind === 'CustomResourceDefinition');
    for (const definition of definitions) {
      const { code } = await context().client.get(`${crdPath}/${definition.metadata.name}`);
      if (code === 404) await install(context(), definition);
    }
  });

  test('takes an Extension through an operation', async ({ client, namespace }) => {
    const path = `/apis/extensions.gardener.cloud/v1alpha1/namespaces/${namespace}/extensions`;
    const providerConfig = { apiVersion: 'a/v1', kind: 'B', any: { thing: 1 } };
    const created = await client.post(path, {
      apiVersion: 'extensions.gardener.cloud/v1alpha1',
      kind: 'Extension',
      metadata: { name: 'shoot-flux', annotations: { 'gardener.cloud/operation': 'reconcile' } },
      spec: { type: 'shoot-flux', providerConfig },
    });
    expect(created.code, JSON.stringify(created.body)).toBe(201);
    expect(created.body.spec.providerConfig).toEqual(providerConfig);
    const operation = { lastUpdateTime: '2026-01-01T00:00:00Z', progress: 50, state: 'Processing', type: 'Create' };
    const status = {
      lastOperation: { description: 'x', ...operation },
      observedGeneration: 1,
      state: { applied: { hash: 'x' } },
      resources: [{ name: 'a', resourceRef: { apiVersion: 'v1', kind: 'Secret', name: 'a' } }],
    };
    const reported = await client.mergePatch(`${path}/shoot-flux/status`, { status });
    expect(reported.body).toMatchObject({ status, metadata: { generation: 1 } });
    const wrong = { status: { lastOperation: { state: 'x', progress: 'y' } } };
    expect((await client.mergePatch(`${path}/shoot-flux/status`, wrong)).code).toBe(422);
    await client.mergePatch(`${path}/shoot-flux`, { spec: { class: 'shoot' } });
    const changed = await client.mergePatch(`${path}/shoot-flux`, { spec: { class: 'seed' } });
    expect(changed.code).toBe(422);
    expect(changed.body.message).toContain('Value is immutable');
  });

  test('fills in defaults of GitRepository and Kustomization, and validates both', async ({ client, namespace }) => {
    const create = (spec: object) =>
      client.post(`/apis/source.toolkit.fluxcd.io/v1/namespaces/${namespace}/gitrepositories`, {
        apiVersion: 'source.toolkit.fluxcd.io/v1',
        kind: 'GitRepository',
        metadata: { name: 'main-gitrepo' },
        spec,
      });
    const created = await create({ interval: '30s', url: 'https://example.com/x' });
    expect(created.code, JSON.stringify(created.body)).toBe(201);
    expect(created.body.spec).toMatchObject({ timeout: '60s' });
    expect((await create({ interval: 'often', url: 'https://example.com/x' })).code).toBe(422);
    expect((await create({ interval: '30s', url: 'ftp://example.com/x' })).code).toBe(422);
    const path = `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/${namespace}/kustomizations/main-ks`;
    const kustomization = await client.apply(path, 'm', {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: 'main-ks' },
      spec: { interval: '5m', prune: true, sourceRef: { kind: 'GitRepository', name: 'main-gitrepo' } },
    });
    expect(kustomization.code, JSON.stringify(kustomization.body)).toBe(201);
    expect(kustomization.body.spec.force).toBe(false);
  });
}
