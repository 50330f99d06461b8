import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { findWebhookDefinitions, findWebhooks } from '../functions.ts';
import { clientsOf } from '../process/clients.ts';
import { startEndpoints } from '../process/endpoints.ts';
import { createPrometheusMetrics, type PrometheusMetrics } from '../process/metrics.ts';
import { untilSignal } from '../process/signals.ts';
import { startWatchdog } from '../process/watchdog.ts';
import { serveWebhooks, type WebhookDependencies, type WebhookOptions } from '../process/webhooks.ts';
import { pathTokensOf } from '../webhooks/path-token.ts';
import { startPlainServer } from '../webhooks/plain-server.ts';
import { clusterNotes, clusterOptions, clustersOf } from './clusters.ts';
import { command, exitCodes } from './command.ts';
import { logLevel } from './log-level.ts';
import { portOf } from './port.ts';
import { tokenHashesOf, webhookOptions, webhooksOf } from './webhook-options.ts';

export default command({
  name: 'webhooks',
  summary: 'Serve the webhooks alone: over HTTPS, or over HTTP behind a proxy that terminates TLS.',
  options: {
    ...clusterOptions,
    port: {
      type: 'string',
      value: 'N',
      description:
        'Port for HTTP. Default: the environment variable PORT, else 8080. With --webhook-port: serve /healthz, /readyz and /metrics on this port. Default: not at all.',
    },
    ...webhookOptions,
    'log-level': { type: 'string', value: 'LEVEL', description: 'debug, info, warn or error. Default: info.' },
  },
  notes: `${clusterNotes}\nWith --webhook-port for a Deployment of its own; without it for a Knative Service, or any container behind a proxy. The paths are /admission and /resource-manager.`,
  async run(values, _, terminal) {
    const { files, seeds } = await clustersOf(values);
    const { 'webhook-token-sha256': tokenHash, ...others } = values;
    const tokenHashes = tokenHashesOf(tokenHash);
    const https = await webhooksOf(others);
    const log = createLog(logLevel(values['log-level']));
    const signalled = untilSignal();
    const metrics = createPrometheusMetrics();
    const clients = { credentials: () => kubeconfigFiles(files), metrics, health: createClusterHealth() };
    const dependencies: WebhookDependencies = {
      clientsOf: (identity) => clientsOf(identity, clients),
      settings: { seeds, delivery: 'ManagedResource' },
      log,
      metrics,
    };
    const running =
      https === undefined
        ? await serveHttp(portFrom(values.port), tokenHashes, dependencies)
        : await serveHttps({ ...https, tokenHashes }, portOf('--port', values.port), dependencies, metrics);
    const watchdog = startWatchdog({ log, metrics });
    const paths = (await findWebhookDefinitions()).map(({ webhook }) => webhook.path).join(' and ');
    terminal.err(`shoot-flux serves ${paths} on port ${running.port}${running.probes}\n`);
    log.info('stopping', { signal: await signalled });
    watchdog.stop();
    await running.stop();
    return exitCodes.success;
  },
});

interface Running {
  port: number;
  /** What the first line says about the probes. */
  probes: string;
  stop(): Promise<void>;
}

async function serveHttp(
  port: number,
  tokenHashes: string | undefined,
  { clientsOf, settings, log, metrics }: WebhookDependencies,
): Promise<Running> {
  const served = (await findWebhooks()).map((webhook) => ({
    ...webhook,
    dependencies: { kube: clientsOf(webhook.definition.name), settings, log, metrics },
  }));
  const tokens = tokenHashes === undefined ? undefined : pathTokensOf('tokenHashes', tokenHashes);
  return { ...(await startPlainServer({ port, served, tokens })), probes: '' };
}

async function serveHttps(
  options: WebhookOptions,
  port: number | undefined,
  dependencies: WebhookDependencies,
  metrics: PrometheusMetrics,
): Promise<Running> {
  const webhooks = await serveWebhooks(options, dependencies);
  const probes = {
    alive: () => true,
    ready: () => webhooks.status().ready,
    status: () => ({ selections: [], outboxes: [] }),
    clusters: () => [],
    webhooks: webhooks.status,
    metrics,
  };
  const endpoints = port === undefined ? undefined : await startEndpoints(port, probes);
  return {
    port: webhooks.port,
    probes: endpoints === undefined ? '' : `, probes and metrics on port ${endpoints.port}`,
    async stop() {
      await webhooks.stop();
      await endpoints?.stop();
    },
  };
}

/** Knative and other platforms pass the port in `PORT`. */
function portFrom(option: string | undefined): number {
  return option === undefined
    ? portOf('the environment variable PORT', process.env.PORT || '8080')
    : portOf('--port', option);
}
