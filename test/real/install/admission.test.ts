import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testData, testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readLandscape } from '../../../shared/config/landscape.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { followPage } from '../../integration/followed-page.ts';
import { gardenCrds, installCrds } from '../cluster/crds.ts';
import { freePorts } from '../cluster/ports.ts';
import { requestJson } from '../cluster/request.ts';
import { useApiServers } from '../on-real-apis.ts';
import { wrongRights } from '../rights.ts';
import { addClients } from './build-place.ts';
import { gardenletValues, INSTALLATION } from './gardenlet.ts';
import { chartFolder, configOf, find, helm, objectsIn, ofKind, renderChart } from './helm.ts';
import { applyObjects, namespaceOf, registrationKinds, serviceAccountToken } from './objects.ts';
import { besidePod, startPod } from './pod.ts';
import { type Registry, startRegistry } from './registry.ts';
import { emptySecret, secretOf, webhookConfiguration } from './webhook-calls.ts';
import { makeWorkplace, type Workplace } from './workplace.ts';

const RUNTIME = 'shoot-flux-admission/charts/runtime';
const APPLICATION = 'shoot-flux-admission/charts/application';
const given = { name: 'extension-admission-shoot-flux', namespace: 'kube-system' };
const own = { name: 'shoot-flux-admission', namespace: 'garden' };

const used = useApiServers({
  garden: { auditLog: true, crds: [...gardenCrds, registrationKinds] },
  runtime: { auditLog: true },
});

it('admission by the charts rejects a wrong providerConfig in a garden whose runtime cluster is another one', async () => {
  const { garden, runtime } = used.servers;
  const [port = 0] = await freePorts(1);
  const operator = { image: { repository: 'registry.example.com/shoot-flux', tag: '0.1.0' } };
  const clientConfig = { url: `https://127.0.0.1:${port}/admission` };
  // gardener-operator passes the values of admission to both parts.
  const inGarden = await renderChart({
    ...{ chart: APPLICATION, namespace: given.namespace },
    values: { ...operator, clientConfig, gardener: { virtualCluster: { serviceAccount: given } } },
  });
  const inRuntime = await renderChart({
    ...{ chart: RUNTIME, namespace: own.namespace },
    values: { ...operator, clientConfig, garden: { kubeconfigSecretName: 'garden-kubeconfig' } },
  });
  // gardener-operator and the resource-manager of the garden create this one, and the Secret with its token.
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: given };
  await applyObjects(garden, [namespaceOf('garden-foo'), account, ...inGarden]);
  const kubeconfig = garden.kubeconfig(await serviceAccountToken(garden, given.namespace, given.name));
  const metadata = { namespace: own.namespace, name: 'garden-kubeconfig' };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { kubeconfig } };
  await applyObjects(runtime, [namespaceOf(own.namespace), secret, ...inRuntime]);
  const create = (providerConfig: object) =>
    requestJson(garden, 'POST', '/apis/core.gardener.cloud/v1beta1/namespaces/garden-foo/shoots?dryRun=All', {
      apiVersion: 'core.gardener.cloud/v1beta1',
      kind: 'Shoot',
      metadata: {
        ...{ name: 'bar', namespace: 'garden-foo' },
        labels: { 'extensions.extensions.gardener.cloud/shoot-flux': 'true' },
      },
      spec: { extensions: [{ type: 'shoot-flux', providerConfig }] },
    });
  const besideWebhooks = async (act: () => Promise<void>) => {
    const flags = ['--webhook-port', String(port), '--webhook-host', '127.0.0.1'];
    const pod = await startPod({ deployment: find(inRuntime, 'Deployment'), cluster: runtime, flags });
    await besidePod(pod, async () => {
      await expect.poll(pod.readyz).toBe(200);
      await act();
    });
  };
  await besideWebhooks(async () => {
    const { name } = find(inGarden, 'ValidatingWebhookConfiguration').metadata;
    const live = await webhookConfiguration(garden, 'validating', name);
    const { data } = await secretOf(runtime, own.namespace, 'shoot-flux-admission-certificates');
    expect(live.webhooks[0]?.clientConfig).toEqual({ ...clientConfig, caBundle: data['ca.crt'] });
    await expect(create({ syncMode: 'Sometimes' })).rejects.toThrow(/providerConfig: syncMode/);
    await create({ syncMode: 'Once' });
  });
  // Certificates that cannot be read are issued again.
  await emptySecret(runtime, own.namespace, 'shoot-flux-admission-certificates');
  await besideWebhooks(async () => {});

  for (const [server, objects, { namespace, name }] of [
    [garden, inGarden, given],
    [runtime, inRuntime, own],
  ] as const)
    expect(await wrongRights(server, objects, `system:serviceaccount:${namespace}:${name}`)).toEqual([]);
});

const crd = testData('gardener', '10-crd-operator.gardener.cloud_extensions.yaml');
it.skipIf(crd !== undefined)(testDataMissing, () => {});

describe('docs/registration.md', () => {
  const page = followPage('docs/registration.md');
  let registry: Registry;
  let workplace: Workplace;

  beforeAll(async () => {
    // The page's kubectl would be in conflict with another manager of the same objects.
    await used.forget();
    registry = await startRegistry();
    workplace = await makeWorkplace();
    await addClients(workplace, registry);
    for (const [name, server] of Object.entries(used.servers))
      await writeFile(join(workplace.folder, `${name}.kubeconfig`), server.kubeconfig());
  });
  afterAll(async () => {
    await registry?.[Symbol.asyncDispose]();
    await workplace?.remove();
  });

  /** Reads what a command of the page has written. */
  async function written(file: string): Promise<KubeObject[]> {
    return objectsIn(await readFile(join(workplace.folder, file), 'utf8'));
  }

  it('has rights and a policy that a real API server accepts', async () => {
    await page.block('Without gardener-operator', 1).run(workplace.run);
    const objects = (await written('controller-registration.yaml')).filter(
      ({ apiVersion }) => !apiVersion.startsWith('core.gardener.cloud'),
    );
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
    const { runtime } = used.servers;
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

  it.skipIf(crd === undefined)('takes defaults and policy of the charts from a ConfigMap', async () => {
    const { runtime } = used.servers;
    await installCrds(runtime, [crd ?? '']);
    await applyObjects(runtime, [namespaceOf('garden')]);
    const section = 'Values from ConfigMaps';
    const [configMap, values] = [page.yaml(section), page.yaml(section, 2)];
    await writeFile(join(workplace.folder, 'landscape.yaml'), configMap);
    await writeFile(join(workplace.folder, 'values.yaml'), values);
    await page.follow(section, workplace.run);
    const objects = await written('operator-extension.yaml');
    const { extension, admission, resources } = (find(objects, 'Extension').spec as OperatorExtension).deployment;
    const { data, metadata, kind } = parse(configMap);
    expect(resources).toEqual([{ name: 'landscape', resourceRef: { apiVersion: 'v1', kind, name: metadata.name } }]);
    // As Gardener replaces the references in texts.
    const filled = (given: object): Record<string, unknown> =>
      JSON.parse(JSON.stringify(given), (_, value) =>
        typeof value === 'string'
          ? value.replaceAll(/\{\{ \.resources\.landscape\.data\.(\w+) \}\}/g, (_all, key) => data[key])
          : value,
      );
    const landscape = { defaults: parse(data.defaults), policy: parse(data.policy) };
    const seed = filled({ ...extension.values, ...gardenletValues('my-seed') });
    expect(configOf(await renderChart({ namespace: INSTALLATION, values: seed }))).toMatchObject(landscape);
    const runtimePart = { chart: RUNTIME, namespace: own.namespace, values: filled(admission.values) };
    expect(configOf(await renderChart(runtimePart))).toMatchObject(landscape);
    expect(() => readLandscape(landscape)).not.toThrow();
  });
});

type Chart = { helm: { ociRepository: { ref: string } } };

interface OperatorExtension {
  deployment: {
    extension: { values: object };
    admission: { runtimeCluster: Chart; virtualCluster: Chart; values: object };
    resources?: object[];
  };
}
