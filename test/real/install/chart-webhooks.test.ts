import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CONFIGURATION } from '../../../infra/webhooks/names.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { shippedRules } from '../../scenarios/identities.ts';
import { type ApiServer, startApiServer } from '../cluster/api-server.ts';
import { type Etcd, startEtcd } from '../cluster/etcd.ts';
import { gardenletValues, INSTALLATION } from './gardenlet-values.ts';
import { lintChart, renderChart } from './helm.ts';
import { applyObjects } from './objects.ts';
import { installOptionalKinds } from './optional-kinds.ts';
import { secretOf, startWebhooks, webhookConfiguration } from './webhooks-process.ts';

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
  server = await startApiServer({ etcd, prefix: 'seed' });
  await installOptionalKinds(server);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  for (const metadata of [{ name: namespace, labels }, { name: 'garden' }])
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

  it('publish their authority with nothing but the rendered config file and rights', async () => {
    const objects = await renderChart({ namespace, values: seed });
    await applyObjects(server, objects);
    const [config] = ofKind(objects, 'ConfigMap').filter(({ metadata }) => metadata.name.endsWith('-webhooks'));
    const text = (config?.data as Record<string, string> | undefined)?.['config.yaml'] ?? '';
    const [configuration] = ofKind(objects, 'MutatingWebhookConfiguration');
    const account = { namespace, name: 'shoot-flux-webhooks' };
    await using process = await startWebhooks({
      config: parse(text),
      clusters: { garden: [server, account], 'my-seed': [server, account] },
      inCluster: 'my-seed',
    });
    await process.isReady();
    const { data } = await secretOf(server, namespace, 'shoot-flux-webhooks-certificates');
    const live = await webhookConfiguration(server, 'mutating', configuration?.metadata.name ?? '');
    expect(live.webhooks.map(({ clientConfig }) => clientConfig.caBundle)).toEqual([data['ca.crt']]);
    expect(live.webhooks[0]?.clientConfig.service).toMatchObject({ namespace, path: '/resource-manager' });
  });

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
    const direct = await renderChart({ namespace, values: { ...seed, config: { delivery: 'Direct' } } });
    expect(ofKind(direct, 'Deployment')).toHaveLength(1);
    const empty = kindsOf(await renderChart({ namespace }));
    expect(
      empty.filter((kind) => ['VerticalPodAutoscaler', 'ServiceMonitor', 'PrometheusRule'].includes(kind)),
    ).toEqual([]);
  });
});
