import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CONFIGURATION } from '../../../infra/webhooks/names.ts';
import { NAMESPACE as CONTROL_PLANE, clusterFactory } from '../../../shared/gardener/testing.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { shippedRules } from '../../scenarios/identities.ts';
import { PROJECT } from '../../scenarios/stage.ts';
import { type ApiServer, startApiServer } from '../cluster/api-server.ts';
import { installCrds, seedCrds } from '../cluster/crds.ts';
import { type Etcd, startEtcd } from '../cluster/etcd.ts';
import { freePorts } from '../cluster/ports.ts';
import { wrongRights } from '../rights.ts';
import { installationRights } from './chart-rights.ts';
import { gardenletValues, INSTALLATION } from './gardenlet-values.ts';
import { lintChart, renderChart } from './helm.ts';
import { applyObjects } from './objects.ts';
import { installOptionalKinds } from './optional-kinds.ts';
import { callWebhook, emptySecret, secretOf, startWebhooks, webhookConfiguration } from './webhooks-process.ts';

const namespace = INSTALLATION;
const seed = gardenletValues('my-seed');
const operator = { gardener: { runtimeCluster: { priorityClassName: 'gardener-garden-system-400' } } };
const virtual = { gardener: { virtualCluster: { serviceAccount: { name: 'extension-admission', namespace } } } };
const issuerRef = { kind: 'ClusterIssuer', name: 'internal' };

/** Charts with values as operators combine them. */
const variants: Record<string, { chart: string; values: Record<string, unknown> }> = {
  'the chart of a seed with certificates of cert-manager': {
    chart: 'shoot-flux',
    values: { ...seed, webhooks: { certificates: 'cert-manager' } },
  },
  'the chart of a seed with another issuer': {
    chart: 'shoot-flux',
    values: { ...seed, webhooks: { certificates: 'cert-manager', certManager: { issuerRef } } },
  },
  'the admission chart': { chart: 'shoot-flux-admission', values: {} },
  'the runtime part': { chart: 'shoot-flux-admission/charts/runtime', values: operator },
  'the runtime part with certificates of cert-manager': {
    chart: 'shoot-flux-admission/charts/runtime',
    values: { ...operator, certificates: 'cert-manager', garden: { kubeconfigSecretName: 'garden-kubeconfig' } },
  },
  'the virtual-garden part': { chart: 'shoot-flux-admission/charts/application', values: virtual },
};

const kindsOf = (objects: KubeObject[]) => [...new Set(objects.map(({ kind }) => kind))];
const ofKind = (objects: KubeObject[], kind: string) => objects.filter((object) => object.kind === kind);

let etcd: Etcd;
let server: ApiServer;
beforeAll(async () => {
  etcd = await startEtcd();
  server = await startApiServer({ etcd, prefix: 'seed', auditLog: true });
  await installOptionalKinds(server);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  if (seedCrds() !== undefined) await installCrds(server, seedCrds() ?? []);
  for (const metadata of [{ name: namespace, labels }, { name: 'garden' }, { name: PROJECT }])
    await applyObjects(server, [{ apiVersion: 'v1', kind: 'Namespace', metadata }]);
});
afterAll(async () => {
  await server?.stop();
  await etcd?.stop();
});

describe.each(Object.entries(variants))('%s', (_, { chart, values }) => {
  it('passes the linter and is accepted by a real API server', async () => {
    expect(await lintChart({ chart, namespace, values })).toContain('1 chart(s) linted, 0 chart(s) failed');
    const objects = await renderChart({ chart, namespace, values });
    expect(objects.length).toBeGreaterThan(2);
    await applyObjects(server, objects, true);
    for (const { spec } of ofKind(objects, 'Deployment')) {
      const { template } = spec as { template: object };
      const pod = { apiVersion: 'v1', kind: 'Pod', ...template } as KubeObject;
      await applyObjects(server, [{ ...pod, metadata: { ...pod.metadata, name: 'pod', namespace } }], true);
    }
    for (const { metadata } of objects)
      expect(JSON.stringify(metadata.annotations ?? {})).not.toContain('helm.sh/hook');
  });
});

describe('the webhooks of a seed', () => {
  it('have the rights of their definitions, for the objects of this installation', async () => {
    const objects = await renderChart({ namespace, values: seed });
    const [configuration] = ofKind(objects, 'MutatingWebhookConfiguration');
    const name = configuration?.metadata.name ?? '';
    expect(name).toMatch(new RegExp(`^${CONFIGURATION}-[0-9a-f]{8}$`));
    const rules = await shippedRules('seed');
    for (const identity of ['webhooks', 'resource-manager-webhook']) {
      const role = ofKind(objects, 'ClusterRole').find((object) => object.metadata.name.endsWith(`:${identity}`));
      const expected = JSON.stringify(rules[identity]).replaceAll(CONFIGURATION, name);
      expect(role?.rules).toEqual(JSON.parse(expected));
    }
  });

  it('get another configuration in another installation, and keep its caBundle from the resource-manager', async () => {
    const [first, second] = await Promise.all(
      [namespace, 'extension-shoot-flux-other'].map(async (other) =>
        ofKind(await renderChart({ namespace: other, values: seed }), 'MutatingWebhookConfiguration'),
      ),
    );
    expect(first?.[0]?.metadata.name).not.toBe(second?.[0]?.metadata.name);
    expect(first?.[0]?.metadata.annotations).toMatchObject({ 'resources.gardener.cloud/ignore': 'true' });
  });

  const account = { namespace, name: 'shoot-flux-webhooks' };

  /** Starts the webhooks with nothing but the rendered config file and rights. */
  async function start(objects: KubeObject[], flags: string[] = []) {
    await applyObjects(server, objects);
    const [config] = ofKind(objects, 'ConfigMap').filter(({ metadata }) => metadata.name.endsWith('-webhooks'));
    const text = (config?.data as Record<string, string> | undefined)?.['config.yaml'] ?? '';
    const webhooks = await startWebhooks({
      config: parse(text),
      clusters: { garden: [server, account], 'my-seed': [server, account] },
      inCluster: 'my-seed',
      flags,
    });
    await webhooks.isReady();
    return webhooks;
  }

  it('publish their authority', async () => {
    const objects = await renderChart({ namespace, values: seed });
    const [configuration] = ofKind(objects, 'MutatingWebhookConfiguration');
    await using _webhooks = await start(objects);
    const { data } = await secretOf(server, namespace, 'shoot-flux-webhooks-certificates');
    const live = await webhookConfiguration(server, 'mutating', configuration?.metadata.name ?? '');
    expect(live.webhooks.map(({ clientConfig }) => clientConfig.caBundle)).toEqual([data['ca.crt']]);
    expect(live.webhooks[0]?.clientConfig.service).toMatchObject({ namespace, path: '/resource-manager' });
  });

  it.skipIf(seedCrds() !== undefined)(testDataMissing, () => {});
  it.skipIf(seedCrds() === undefined)('answer with the rendered rights, each of which they need', async () => {
    const isForWebhook = ({ metadata: { name } }: KubeObject) => name.endsWith(':resource-manager-webhook');
    const objects = [
      ...(await renderChart({ namespace, values: seed })),
      ...(await installationRights(() => account)).filter(isForWebhook),
    ];
    // Certificates that cannot be read are issued again.
    await emptySecret(server, namespace, 'shoot-flux-webhooks-certificates');
    const [port = 0] = await freePorts(1);
    await using _webhooks = await start(objects, ['--webhook-port', `${port}`]);
    await applyObjects(server, shootWithFlux());
    const { data } = await secretOf(server, namespace, 'shoot-flux-webhooks-certificates');
    const args = ['-v'];
    const image = 'gardener/resource-manager:v1.150.0';
    const containers = [{ name: 'gardener-resource-manager', image, args }];
    const object = {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'gardener-resource-manager' } },
      spec: { template: { spec: { containers } } },
    };
    const patch = await callWebhook({
      ...{ port, host: `shoot-flux-webhooks.${namespace}.svc`, caBundle: data['ca.crt'] ?? '' },
      ...{ path: '/resource-manager', request: { operation: 'CREATE', namespace: CONTROL_PLANE, object } },
    });
    expect(JSON.stringify(patch)).toContain('--extra-target-namespace=flux-x');

    const user = `system:serviceaccount:${namespace}:${account.name}`;
    expect(await wrongRights(server, objects, user)).toEqual([]);
  });

  /** What the webhook reads: the Cluster of a Shoot with the extension, and the configuration of its project. */
  function shootWithFlux(): KubeObject[] {
    const { spec, ...cluster } = clusterFactory({ spec: { extensions: [{ type: 'shoot-flux' }] } });
    return [
      { ...cluster, spec: { ...spec, cloudProfile: {}, seed: {} } } as unknown as KubeObject,
      {
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: PROJECT, name: 'flux-config' } },
        data: { namespace: 'flux-x' },
      },
    ];
  }

  it('are left out where they are not wanted', async () => {
    const objects = await renderChart({
      namespace,
      values: {
        ...seed,
        webhooks: { enabled: false },
        podDisruptionBudget: { enabled: false },
        vpa: { enabled: false },
        metrics: {
          serviceMonitor: { enabled: false },
          prometheusRule: { enabled: false },
          dashboard: { enabled: false },
        },
      },
    });
    const optional = [
      ...['MutatingWebhookConfiguration', 'PodDisruptionBudget', 'VerticalPodAutoscaler', 'ServiceMonitor'],
      ...['PrometheusRule'],
    ];
    expect(kindsOf(objects).filter((kind) => optional.includes(kind))).toEqual([]);
    expect(ofKind(objects, 'Deployment')).toHaveLength(1);
    const all = kindsOf(await renderChart({ namespace, values: seed }));
    expect(optional.filter((kind) => !all.includes(kind))).toEqual([]);
    const empty = kindsOf(await renderChart({ namespace }));
    expect(
      empty.filter((kind) => ['VerticalPodAutoscaler', 'ServiceMonitor', 'PrometheusRule'].includes(kind)),
    ).toEqual([]);
  });
});
