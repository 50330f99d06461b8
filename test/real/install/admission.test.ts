import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testData, testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { type ApiServer, startApiServer } from '../cluster/api-server.ts';
import { gardenCrds, installCrds } from '../cluster/crds.ts';
import { type Etcd, startEtcd } from '../cluster/etcd.ts';
import { requestJson } from '../cluster/request.ts';
import { wrongRights } from '../rights.ts';
import { gardenletValues, INSTALLATION } from './gardenlet-values.ts';
import { chartFolder, helm, renderChart } from './helm.ts';
import { applyObjects } from './objects.ts';
import { emptySecret, secretOf, startWebhooks, webhookConfiguration } from './webhooks-process.ts';

const run = promisify(execFile);
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

/** Prints a registration as operators do. */
async function registration(...flags: string[]): Promise<KubeObject[]> {
  const { stdout } = await run(process.execPath, ['infra/gardener/registration/main.ts', ...flags], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
}

describe('admission by the charts', () => {
  it('rejects a wrong providerConfig in a garden whose runtime cluster is another one', async () => {
    const port = await freePort();
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

describe('registration', () => {
  const own = ({ apiVersion }: KubeObject) => !apiVersion.startsWith('core.gardener.cloud');

  it('has rights and a policy that a real API server accepts', async () => {
    const objects = (await registration()).filter(own);
    expect(objects.length).toBeGreaterThan(5);
    await applyObjects(garden, objects);
    const inChart = await renderChart({
      ...{ chart: APPLICATION, namespace: 'kube-system' },
      values: { gardener: { virtualCluster: { serviceAccount: given } } },
    });
    expect(inChart).toEqual(expect.arrayContaining(objects));
  });

  it('contains the chart when it is inlined, and Helm renders that as it renders the folder', async () => {
    const [first, second] = await Promise.all([registration('--inline'), registration('--inline')]);
    expect(first).toEqual(second);
    const [deployment] = ofKind(first, 'ControllerDeployment');
    const source = deployment?.helm as { rawChart: string; ociRepository?: object } | undefined;
    expect(source?.ociRepository).toBeUndefined();
    const folder = await mkdtemp(join(tmpdir(), 'shoot-flux-raw-chart-'));
    const packed = join(folder, 'chart.tgz');
    await writeFile(packed, Buffer.from(source?.rawChart ?? '', 'base64'));
    const values = join(folder, 'values.yaml');
    await writeFile(values, JSON.stringify(gardenletValues('my-seed')));
    const render = (chart: string) =>
      helm('template', 'shoot-flux', chart, '--namespace', INSTALLATION, '--values', values);
    expect(await render(packed)).toBe(await render(chartFolder('shoot-flux')));
    expect(await helm('show', 'chart', packed)).toContain('\nversion: 0.1.0');
    await rm(folder, { recursive: true });
  });

  const crd = testData('gardener', '10-crd-operator.gardener.cloud_extensions.yaml');
  it.skipIf(crd !== undefined)(testDataMissing, () => {});
  it.skipIf(crd === undefined)('for gardener-operator satisfies its CRD, without unknown fields', async () => {
    await installCrds(runtime, [crd ?? '']);
    const objects = await registration('--operator', '--version', '1.2.3', '--registry', 'registry.example.com/a');
    expect(JSON.stringify(objects)).toContain('registry.example.com/a/charts/shoot-flux-admission-runtime:1.2.3');
    await applyObjects(runtime, objects);
    const wrong = structuredClone(objects);
    Object.assign(wrong[0]?.spec as object, { lifecycle: {} });
    await expect(applyObjects(runtime, wrong)).rejects.toThrow(/lifecycle/);
  });
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
