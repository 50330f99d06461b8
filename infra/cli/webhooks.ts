import { readLandscape } from '../../shared/config/landscape.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { IN_CLUSTER, kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import { findWebhookDefinitions } from '../functions.ts';
import { clientsOf } from '../process/clients.ts';
import { startEndpoints } from '../process/endpoints.ts';
import { createPrometheusMetrics } from '../process/metrics.ts';
import { startPlainServer } from '../webhooks/server.ts';
import { servedPushes, servedWebhooks, serveWebhooks, type WebhookDependencies } from '../webhooks/webhooks.ts';
import { clusterNotes, clustersOf } from './clusters.ts';
import { service } from './command.ts';
import { port } from './option.ts';
import { clusterOptions, landscapeOptions, pushOptions, webhookOptions } from './options.ts';
import { functionsOf, httpsOptions, takesPushes, tokensOf, webhooksOf } from './webhook-options.ts';

/** Knative and other platforms pass another one in `PORT`. */
const HTTP_PORT = 8080;

export default service({
  name: 'webhooks',
  summary: 'Serve the webhooks alone: over HTTPS, or over HTTP behind a proxy that terminates TLS.',
  options: {
    ...clusterOptions,
    port: port(
      'Port for HTTP. With --webhook-port: serve /healthz, /readyz and /metrics on this port.',
      '8080; not at all with --webhook-port',
    ),
    ...webhookOptions,
    ...landscapeOptions,
    ...pushOptions,
  },
  notes: `${clusterNotes}\nWith --webhook-port for a Deployment of its own; without it for a Knative Service, or any container behind a proxy. The paths are /admission, /resource-manager and, with --push-url, /push/.`,
  async start(values, _, _terminal, log) {
    const functions = await functionsOf(values);
    const definitions = (await findWebhookDefinitions()).filter(({ name }) => functions?.includes(name) !== false);
    const needsSeeds = definitions.some(({ webhook }) => webhook.in === 'seed');
    const { files, seeds } = await clustersOf(values, needsSeeds);
    const tokens = tokensOf(values);
    const https = await webhooksOf(values, httpsOptions);
    const metrics = createPrometheusMetrics();
    const clients = {
      credentials: () => kubeconfigFiles({ [IN_CLUSTER]: IN_CLUSTER, ...files }),
      metrics,
      health: createClusterHealth(),
    };
    const dependencies: WebhookDependencies = {
      clientsOf: (identity) => clientsOf(identity, clients),
      settings: { seeds, ...readLandscape(values) },
      log,
      metrics,
    };
    const isPushed = takesPushes(values);
    const paths = [...definitions.map(({ webhook }) => webhook.path), ...(isPushed ? ['/push/'] : [])].join(' and ');
    if (https === undefined) {
      const served = await servedWebhooks(functions, dependencies);
      const push = isPushed ? await servedPushes(dependencies) : undefined;
      const { port, stop } = await startPlainServer({ port: values.port ?? HTTP_PORT, served, tokens, push });
      return { line: `serves ${paths} on port ${port}`, stop };
    }
    const webhooks = await serveWebhooks(https, dependencies);
    const { status, port } = webhooks;
    const endpoints = await startEndpoints(values.port, { ready: () => status().ready, webhooks: status, metrics });
    const probes = endpoints === undefined ? '' : `, probes and metrics on port ${endpoints.port}`;
    const stop = async () => {
      await webhooks.stop();
      await endpoints?.stop();
    };
    return { line: `serves ${paths} on port ${port}${probes}`, stop };
  },
});
