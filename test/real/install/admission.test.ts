import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testData, testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { followPage } from '../../integration/followed-page.ts';
import { type ApiServer, startApiServer } from '../cluster/api-server.ts';
import { gardenCrds, installCrds } from '../cluster/crds.ts';
import { type Etcd, startEtcd } from '../cluster/etcd.ts';
import { freePorts } from '../cluster/ports.ts';
import { requestJson } from '../cluster/request.ts';
import { wrongRights } from '../rights.ts';
import { addClients } from './build-place.ts';
import { gardenletValues, INSTALLATION } from './gardenlet-values.ts';
import { chartFolder, helm, renderChart } from './helm.ts';
import { applyObjects } from './objects.ts';
import { installRegistrationKinds } from './optional-kinds.ts';
import { type Registry, startRegistry } from './registry.ts';
import { emptySecret, secretOf, startWebhooks, webhookConfiguration } from './webhooks-process.ts';
import { makeWorkplace, type Workplace } from './workplace.ts';

const RUNTIME = 'shoot-flux-admission/charts/runtime';
const APPLICATION = 'shoot-flux-admission/charts/application';
const given = { name: 'extension-admission-shoot-flux', namespace: 'kube-system' };
const ofKind = (objects: KubeObject[], kind: string) => objects.filter((object) => object.kind === kind);
const namespaceOf = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

let etcd: Etcd;
let garden: ApiServer;
let runtime: ApiServer;
beforeAll(async () => {
  etcd = await startEtcd();
  [garden, runtime] = await Promise.all([
    startApiServer({ etcd, prefix: 'garden', auditLog: true }),
    startApiServer({ etcd, prefix: 'runtime', auditLog: true }),
  ]);
  await installCrds(garden, gardenCrds);
  await applyObjects(garden, [namespaceOf('garden-foo')]);
  await applyObjects(runtime, [namespaceOf('garden')]);
});
afterAll(async () => {
  await Promise.all([garden?.stop(), runtime?.stop()]);
  await etcd?.stop();
});

describe('admission by the charts', () => {
  it('rejects a wrong providerConfig in a garden whose runtime cluster is another one', async () => {
    const [port = 0] = await freePorts(1);
    const operator = { image: { repository: 'registry.example.com/shoot-flux', tag: '0.1.0' } };
    const clientConfig = { url: `https://127.0.0.1:${port}/admission` };
    // gardener-operator passes the values of admission to both parts.
    const inGarden = await renderChart({
      ...{ chart: APPLICATION, namespace: 'kube-system' },
      values: { ...operator, clientConfig, gardener: { virtualCluster: { serviceAccount: given } } },
    });
    const inRuntime = await renderChart({ chart: RUNTIME, namespace: 'garden', values: { ...operator, clientConfig } });
    // gardener-operator and the resource-manager of the garden create this one.
    await applyObjects(garden, [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: given }, ...inGarden]);
    await applyObjects(runtime, inRuntime);
    const [config] = ofKind(inRuntime, 'ConfigMap');
    const text = (config?.data as Record<string, string> | undefined)?.['config.yaml'] ?? '';
    const start = () =>
      startWebhooks({
        config: parse(text),
        clusters: {
          garden: [garden, given],
          runtime: [runtime, { namespace: 'garden', name: 'shoot-flux-admission' }],
        },
        ...{ inCluster: 'runtime', flags: ['--webhook-port', String(port), '--webhook-host', '127.0.0.1'] },
      });
    {
      await using first = await start();
      await first.isReady();
      const [configuration] = ofKind(inGarden, 'ValidatingWebhookConfiguration');
      const live = await webhookConfiguration(garden, 'validating', configuration?.metadata.name ?? '');
      const { data } = await secretOf(runtime, 'garden', 'shoot-flux-admission-certificates');
      expect(live.webhooks[0]?.clientConfig).toEqual({ ...clientConfig, caBundle: data['ca.crt'] });
      await expect(create({ syncMode: 'Sometimes' })).rejects.toThrow(/providerConfig: syncMode/);
      await create({ syncMode: 'Once' });
    }
    // Certificates that cannot be read are issued again.
    await emptySecret(runtime, 'garden', 'shoot-flux-admission-certificates');
    await using second = await start();
    await second.isReady();

    for (const [server, objects, account] of [
      [garden, inGarden, given],
      [runtime, inRuntime, { namespace: 'garden', name: 'shoot-flux-admission' }],
    ] as const) {
      const user = `system:serviceaccount:${account.namespace}:${account.name}`;
      expect(await wrongRights(server, objects, user)).toEqual([]);
    }
  });

  async function create(providerConfig: object): Promise<unknown> {
    const labels = { 'extensions.extensions.gardener.cloud/shoot-flux': 'true' };
    return requestJson(garden, 'POST', '/apis/core.gardener.cloud/v1beta1/namespaces/garden-foo/shoots?dryRun=All', {
      apiVersion: 'core.gardener.cloud/v1beta1',
      kind: 'Shoot',
      metadata: { name: 'bar', namespace: 'garden-foo', labels },
      spec: { extensions: [{ type: 'shoot-flux', providerConfig }] },
    });
  }
});

const crd = testData('gardener', '10-crd-operator.gardener.cloud_extensions.yaml');
it.skipIf(crd !== undefined)(testDataMissing, () => {});

describe('docs/registration.md', () => {
  const page = followPage('docs/registration.md');
  const own = ({ apiVersion }: KubeObject) => !apiVersion.startsWith('core.gardener.cloud');
  let registry: Registry;
  let workplace: Workplace;

  beforeAll(async () => {
    registry = await startRegistry();
    workplace = await makeWorkplace();
    await addClients(workplace, registry);
    await installRegistrationKinds(garden);
    for (const [name, server] of Object.entries({ garden, runtime }))
      await writeFile(join(workplace.folder, `${name}.kubeconfig`), server.kubeconfig());
  });
  afterAll(async () => {
    await registry?.[Symbol.asyncDispose]();
    await workplace?.remove();
  });

  /** Reads what a command of the page has written. */
  async function written(file: string): Promise<KubeObject[]> {
    const text = await readFile(join(workplace.folder, file), 'utf8');
    return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
  }

  it('has rights and a policy that a real API server accepts', async () => {
    await page.block('Without gardener-operator', 1).run(workplace.run);
    const objects = (await written('controller-registration.yaml')).filter(own);
    expect(objects.length).toBeGreaterThan(5);
    const inChart = await renderChart({
      ...{ chart: APPLICATION, namespace: 'kube-system' },
      values: { gardener: { virtualCluster: { serviceAccount: given } } },
    });
    expect(inChart).toEqual(expect.arrayContaining(objects));
  });

  it('contains the chart when it is inlined, and Helm renders that as it renders the folder', async () => {
    await page.block('Without gardener-operator', 2).run(workplace.run);
    const first = await written('controller-registration.yaml');
    await page.block('Without gardener-operator', 2).run(workplace.run);
    expect(await written('controller-registration.yaml')).toEqual(first);
    const [deployment] = ofKind(first, 'ControllerDeployment');
    const source = deployment?.helm as { rawChart: string; ociRepository?: object } | undefined;
    expect(source?.ociRepository).toBeUndefined();
    const packed = join(workplace.folder, 'raw-chart.tgz');
    await writeFile(packed, Buffer.from(source?.rawChart ?? '', 'base64'));
    const values = join(workplace.folder, 'raw-values.yaml');
    await writeFile(values, JSON.stringify(gardenletValues('my-seed')));
    const render = (chart: string) =>
      helm('template', 'shoot-flux', chart, '--namespace', INSTALLATION, '--values', values);
    expect(await render(packed)).toBe(await render(chartFolder('shoot-flux')));
    expect(await helm('show', 'chart', packed)).toContain('\nversion: 0.1.0');
  });

  it.skipIf(crd === undefined)('for gardener-operator satisfies its CRD, without unknown fields', async () => {
    await installCrds(runtime, [crd ?? '']);
    await page.follow('With gardener-operator', workplace.run);
    const objects = await written('operator-extension.yaml');
    const spec = objects[0]?.spec as OperatorExtension;
    const { runtimeCluster, virtualCluster } = spec.deployment.admission;
    for (const part of [runtimeCluster, virtualCluster]) {
      const [, name, version] = /^(.*):([^:]+)$/.exec(part.helm.ociRepository.ref) ?? [];
      await workplace.run(`mkdir -p pulled && helm pull oci://${name} --version ${version} --destination pulled`);
    }
    const wrong = structuredClone(objects);
    Object.assign(wrong[0]?.spec as object, { lifecycle: {} });
    await expect(applyObjects(runtime, wrong)).rejects.toThrow(/lifecycle/);
  });
});

type Chart = { helm: { ociRepository: { ref: string } } };

interface OperatorExtension {
  deployment: { admission: { runtimeCluster: Chart; virtualCluster: Chart } };
}
