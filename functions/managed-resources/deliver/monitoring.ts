import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { by, dashboardJson, panel } from '../../../shared/gardener/dashboard.ts';
import { contentSecretName, isCurrent, MONITORING } from '../../../shared/gardener/managed-resource.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { type ControlPlane, deleteManagedResource } from '../read/control-plane.ts';
import type { Run } from '../run.ts';
import { writeContent, writeManagedResource } from './deliver.ts';

/** Gardener's secrets manager keeps the certificates of the shoot's API server under a name that changes when they do. */
const CLUSTER_CA = 'managed-by=secrets-manager,bundle-for=ca';

/**
 * Brings Flux's metrics into the Prometheus of the Shoot, or takes them out of it. After everything else: nothing
 * depends on it, and what it has written is not in the list by which a delivery cleans up.
 */
export async function deliverMonitoring(run: Run, { live }: ControlPlane, config: EffectiveConfig): Promise<void> {
  const { seed, namespace, context } = run;
  const resource = live.get(MONITORING);
  if (config.monitoring !== true) {
    if (resource !== undefined) await deleteManagedResource(seed, resource, 'the configuration asks for no monitoring');
    return;
  }
  const options = { namespace, labelSelector: CLUSTER_CA, metadataOnly: true };
  const { items } = await seed.list(resources.secrets, options);
  const ageOf = ({ metadata }: (typeof items)[number]) => metadata.creationTimestamp ?? '';
  const [newest] = items.toSorted((one, other) => (ageOf(one) < ageOf(other) ? 1 : -1));
  if (newest === undefined) {
    const error = `namespace ${namespace} has no Secret with the labels ${CLUSTER_CA}; the next resync looks again.`;
    return context.log.warn('monitoring not delivered', { error });
  }
  const objects = monitoringObjects(namespace, config.flux.namespace, newest.metadata.name);
  const secretName = contentSecretName(MONITORING, objects);
  // One that is being deleted is written by the run that its end wakes.
  if (isCurrent(resource, secretName) || resource?.metadata.deletionTimestamp !== undefined) return;
  await writeContent(seed, namespace, MONITORING, objects);
  await writeManagedResource(seed, namespace, MONITORING, secretName, resource);
}

const NAME = 'shoot-flux';
const JOB = 'job="flux"';

/** What alerts and dashboard need; all others stay out of a Prometheus that belongs to the Shoot. */
const METRICS = [
  ...['controller_runtime_reconcile_total', 'gotk_reconcile_duration_seconds_(sum|count)', 'workqueue_depth'],
  ...['process_resident_memory_bytes', 'process_cpu_seconds_total'],
];

/** Two thousand objects of Flux have fewer. */
const MOST_SAMPLES = 10_000;

/**
 * Returns the objects of a control plane with which its Prometheus scrapes Flux through the API server of the shoot,
 * with alerts, and a dashboard for its Plutono.
 * @param ca name of the Secret with the certificates of that API server, in `bundle.crt`
 */
function monitoringObjects(namespace: string, fluxNamespace: string, ca: string): KubeObject[] {
  const access = {
    authorization: { credentials: { name: 'shoot-access-prometheus-shoot', key: 'token' } },
    tlsConfig: { ca: { secret: { name: ca, key: 'bundle.crt' } } },
  };
  const metadata = (label: string, value: string) => ({ name: NAME, namespace, labels: { [label]: value } });
  const pods = `/api/v1/namespaces/${fluxNamespace}/pods/$1:$2/proxy/metrics`;
  const [podName, port] = ['__meta_kubernetes_pod_name', '__meta_kubernetes_pod_container_port_number'];
  const scrape = {
    ...access,
    scheme: 'HTTPS',
    honorLabels: false,
    sampleLimit: MOST_SAMPLES,
    kubernetesSDConfigs: [
      { ...access, role: 'Pod', apiServer: 'https://kube-apiserver', namespaces: { names: [fluxNamespace] } },
    ],
    relabelings: [
      { targetLabel: 'job', replacement: 'flux' },
      { targetLabel: 'type', replacement: 'shoot' },
      { sourceLabels: ['__meta_kubernetes_pod_container_port_name'], action: 'keep', regex: 'http-prom' },
      { sourceLabels: [podName], targetLabel: 'pod' },
      { targetLabel: '__address__', replacement: 'kube-apiserver:443' },
      { sourceLabels: [podName, port], regex: '(.+);(.+)', targetLabel: '__metrics_path__', replacement: pods },
    ],
    metricRelabelings: [{ sourceLabels: ['__name__'], action: 'keep', regex: `^(${METRICS.join('|')})$` }],
  };
  const [dashboard, group] = ['dashboard.monitoring.gardener.cloud/shoot', 'monitoring.coreos.com'];
  return [
    { apiVersion: `${group}/v1alpha1`, kind: 'ScrapeConfig', metadata: metadata('prometheus', 'shoot'), spec: scrape },
    {
      ...{ apiVersion: `${group}/v1`, kind: 'PrometheusRule', metadata: metadata('prometheus', 'shoot') },
      spec: { groups: [{ name: 'flux.rules', rules }] },
    },
    {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(dashboard, 'true') },
      data: { 'flux.json': dashboardJson('flux', 'Flux', 'prometheus', [['Flux', panels]]) },
    },
  ];
}

/** Gardener's Alertmanager routes by these labels: what only the owners of the Shoot can correct goes to them. */
const labelsFor = (visibility: 'all' | 'owner') => ({
  service: 'flux',
  severity: 'warning',
  type: 'shoot',
  visibility,
});

const rules = [
  {
    ...{ alert: 'FluxControllerDown', expr: `up{${JOB}} == 0`, for: '15m', labels: labelsFor('all') },
    annotations: {
      summary: 'Flux does not answer.',
      description: 'Pod {{ $labels.pod }} of Flux has not answered for 15 minutes; look at its status and its log.',
    },
  },
  {
    alert: 'FluxReconciliationsFail',
    expr: `sum by (controller) (increase(controller_runtime_reconcile_total{${JOB}, result="error"}[15m])) > 0`,
    ...{ for: '30m', labels: labelsFor('owner') },
    annotations: {
      summary: 'Flux fails to reconcile.',
      description: 'Objects of kind {{ $labels.controller }} have failed for 30 minutes; flux get all -A says why.',
    },
  },
];

const rate = (metric: string) => `rate(${metric}{${JOB}}[$__rate_interval])`;
const duration = 'gotk_reconcile_duration_seconds';
const slowest = `topk(10, ${rate(`${duration}_sum`)} / ${rate(`${duration}_count`)})`;

const panels = [
  panel('Controllers that answer', 'short', ['{{pod}}', `up{${JOB}}`]),
  panel('Reconciliations', 'ops', by('controller, result', rate('controller_runtime_reconcile_total'))),
  panel('The slowest objects', 's', ['{{kind}} {{namespace}}/{{name}}', slowest]),
  panel('Objects that wait', 'short', by('name', `workqueue_depth{${JOB}}`)),
  panel('Memory', 'bytes', ['{{pod}}', `process_resident_memory_bytes{${JOB}}`]),
  panel('CPU', 'short', ['{{pod}}', rate('process_cpu_seconds_total')]),
];
