import { testDataMissing } from '@shoot-flux/landscape/test-data';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { withLists } from '../../shared/config/listed/testing.ts';
import { errorMessage } from '../../shared/errors.ts';
import { ruleProblems } from '../../shared/flux/cel.ts';
import { schemaProblems } from '../../shared/flux/crd-schema.ts';
import { type CustomResource, customResourceIn } from '../../shared/flux/custom-resources.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import type { Release } from '../../shared/flux/release.ts';
import { createKubeClient, type HttpKubeClient } from '../../shared/kube/http-client.ts';
import { kubeconfigConnection } from '../../shared/kube/kubeconfig.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { testDistribution } from '../made-distribution.ts';
import { type ApiServer, startApiServer } from './cluster/api-server.ts';
import { type Etcd, startEtcd } from './cluster/etcd.ts';
import { requestJson } from './cluster/request.ts';

const folder = await testDistribution();
if (folder === undefined) test.skip(testDataMissing);
const newest = folder === undefined ? undefined : (await openDistribution(folder).versions())[0];

const name = fc.constantFrom('a', 'b-1', 'A_b');
const reference = fc.record({ name });
const some = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] });
const kubeConfig = some({ secretRef: reference, configMapRef: reference });

/** Specs around the rules of each kind: most break one, or another part of the schema. */
const specs: Record<string, fc.Arbitrary<object>> = {
  GitRepository: some({
    url: fc.constantFrom('https://a.example/b', 'ftp://a.example'),
    interval: fc.constantFrom('1m', 'x'),
    provider: fc.constantFrom('generic', 'azure', 'aws', 'github', 'gcp'),
    serviceAccountName: name,
    verify: fc.record({ mode: fc.constantFrom('HEAD', 'Tag', 'none'), secretRef: reference }),
  }),
  Bucket: some({
    ...{ endpoint: fc.constant('a.example'), bucketName: fc.constant('b'), interval: fc.constant('1m') },
    provider: fc.constantFrom('generic', 'aws', 'azure', 'gcp'),
    secretRef: reference,
    serviceAccountName: name,
    sts: fc.record({ provider: fc.constantFrom('aws', 'ldap'), endpoint: fc.constant('https://a.example') }),
  }),
  HelmChart: some({
    ...{
      chart: fc.constant('a'),
      interval: fc.constant('1m'),
      verify: fc.record({ provider: fc.constantFrom('cosign', 'notation') }),
    },
    sourceRef: fc.record({ kind: fc.constantFrom('HelmRepository', 'GitRepository', 'Bucket', 'Other'), name }),
  }),
  Kustomization: some({
    ...{ interval: fc.constant('1m'), prune: fc.boolean(), kubeConfig },
    sourceRef: fc.record({ kind: fc.constantFrom('GitRepository', 'Secret'), name }),
  }),
  HelmRelease: some({
    ...{
      interval: fc.constant('1m'),
      kubeConfig,
      chartRef: fc.record({ kind: fc.constantFrom('OCIRepository', 'HelmChart'), name }),
    },
    chart: fc.record({
      spec: fc.record({ chart: fc.constant('a'), sourceRef: fc.record({ kind: fc.constant('HelmRepository'), name }) }),
    }),
    install: some({
      strategy: some({
        name: fc.constantFrom('RemediateOnFailure', 'RetryOnFailure'),
        retryInterval: fc.constantFrom('1m', 'x'),
      }),
    }),
  }),
  Provider: some({
    type: fc.constantFrom('slack', 'github', 'gitlab', 'generic', 'smoke'),
    ...{ address: fc.constantFrom('https://a.example', 'x'), commitStatusExpr: fc.constant("'a'") },
  }),
  Receiver: some({
    type: fc.constantFrom('github', 'generic-oidc', 'other'),
    resources: fc.array(fc.record({ kind: fc.constantFrom('GitRepository', 'Pod'), name }), { maxLength: 2 }),
    secretRef: reference,
    oidcProviders: fc.array(fc.record({ issuerURL: fc.constant('https://a.example'), audience: fc.constant('a') }), {
      maxLength: 1,
    }),
  }),
  ImagePolicy: some({
    imageRepositoryRef: reference,
    policy: some({
      semver: fc.record({ range: fc.constant('1.x') }),
      alphabetical: fc.record({ order: fc.constantFrom('asc', 'x') }),
    }),
    digestReflectionPolicy: fc.constantFrom('Always', 'IfNotPresent', 'Never', 'x'),
    interval: fc.constantFrom('1m', 'x'),
  }),
  ArtifactGenerator: some({
    sources: fc.array(
      fc.record({ alias: fc.constantFrom('a', 'A'), kind: fc.constantFrom('GitRepository', 'Pod'), name }),
      { maxLength: 1 },
    ),
    artifacts: fc.array(
      fc.record({ name: fc.constantFrom('a', 'A b'), copy: fc.constant([{ from: '@a/**', to: '@artifact/' }]) }),
      { minLength: 0, maxLength: 2 },
    ),
    pathPattern: fc.constantFrom('', '@a/*'),
  }),
};

describe.skipIf(folder === undefined)('rules of CRDs, as a real API server evaluates them', () => {
  let etcd: Etcd;
  let server: ApiServer;
  let client: HttpKubeClient;
  let release: Release;

  beforeAll(async () => {
    etcd = await startEtcd();
    server = await startApiServer({ etcd, prefix: 'object-rules' });
    client = createKubeClient(await kubeconfigConnection(server.kubeconfig(), 'the server'));
    release = await openDistribution(folder ?? '').release(newest ?? '');
    const crds = [...release.files.values()].flat().filter(({ kind }) => kind === 'CustomResourceDefinition');
    for (const crd of crds) await client.apply(resources.customResourceDefinitions, crd, { fieldManager: 'test' });
  }, 300_000);

  afterAll(async () => {
    client?.close();
    await server?.stop();
    await etcd?.stop();
  });

  const resourceOf = (kind: string): { resource: Resource; custom: CustomResource } => {
    const config = effectiveConfig(withLists({ flux: { components: componentsOf(release) } }));
    const custom = customResourceIn(release, config, { kind, apiVersion: '' }, '');
    const [group = '', version = ''] = custom.apiVersion.split('/');
    const plural = `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
    return { custom, resource: { group, version, kind, plural, namespaced: true } };
  };
  /** A dry run, with the checks of a real creation. */
  const isAccepted = async ({ plural }: Resource, object: KubeObject): Promise<boolean> => {
    const path = `/apis/${object.apiVersion}/namespaces/default/${plural}?dryRun=All&fieldValidation=Strict`;
    try {
      await requestJson(server, 'POST', path, object);
      return true;
    } catch (error) {
      if (errorMessage(error).includes(': 422 ')) return false;
      throw error;
    }
  };

  test.each(Object.keys(specs))('%s: refuses only what the API server refuses', { timeout: 120_000 }, async (kind) => {
    const { resource, custom } = resourceOf(kind);
    await vi.waitFor(() => client.list(resource, { namespace: 'default', limit: 1 }), {
      timeout: 60_000,
      interval: 500,
    });
    const seen = { both: 0, neither: 0, onlyServer: 0 };
    for (const spec of fc.sample(specs[kind] as fc.Arbitrary<object>, { numRuns: 120, seed: 9 })) {
      const schema = custom.spec ?? {};
      const types = schemaProblems(schema, spec, ['spec'], release.version);
      const rules = types.length === 0 ? ruleProblems(schema, spec, ['spec']) : [];
      const object = { apiVersion: custom.apiVersion, kind, metadata: { name: 'a', namespace: 'default' }, spec };
      const accepted = await isAccepted(resource, object as KubeObject);
      const refused = types.length + rules.length > 0;
      if (refused) expect(accepted, `${JSON.stringify(spec)}: ${JSON.stringify([...types, ...rules])}`).toBe(false);
      if (refused) seen.both++;
      else if (accepted) seen.neither++;
      else seen.onlyServer++;
    }
    // Both answers occur, and the API server has nothing to add.
    expect(seen).toMatchObject({ both: expect.any(Number), onlyServer: 0 });
    expect(seen.both).toBeGreaterThan(0);
    expect(seen.neither).toBeGreaterThan(0);
  });
});
