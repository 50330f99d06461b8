import { createServer } from 'node:http';
import { readLandscape } from '../../shared/config/landscape.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { IN_CLUSTER, kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { findWebhookDefinitions } from '../functions.ts';
import { listen } from '../listen.ts';
import { clientsOf } from '../process/clients.ts';
import { startEndpoints } from '../process/endpoints.ts';
import { createPrometheusMetrics, type PrometheusMetrics } from '../process/metrics.ts';
import { untilSignal } from '../process/signals.ts';
import { servedWebhooks, serveWebhooks, type WebhookDependencies, type WebhookOptions } from '../process/webhooks.ts';
import { pathTokensOf } from '../webhooks/path-token.ts';
import { createResponder, type ResponderOptions } from '../webhooks/respond.ts';
import { bound, close, serverLimits } from '../webhooks/webhooks.ts';
import { clusterNotes, clustersOf } from './clusters.ts';
import { command, exitCodes } from './command.ts';
import { clusterOptions, landscapeOptions, logOptions, portOptions, webhookOptions } from './options.ts';
import { logLevelOf, portOf } from './settings.ts';
import { functionsOf, httpsOptions, tokenHashesOf, webhooksOf } from './webhook-options.ts';

export default command({
  name: 'webhooks',
  summary: 'Serve the webhooks alone: over HTTPS, or over HTTP behind a proxy that terminates TLS.',
  options: {
    ...clusterOptions,
    ...portOptions,
    ...webhookOptions,
    ...landscapeOptions,
    ...logOptions,
  },
  isService: true,
  notes: `${clusterNotes}\nWith --webhook-port for a Deployment of its own; without it for a Knative Service, or any container behind a proxy. The paths are /admission and /resource-manager.`,
  async run(values, _, terminal) {
    const functions = await functionsOf(values);
    const definitions = (await findWebhookDefinitions()).filter(({ name }) => functions?.includes(name) !== false);
    const needsSeeds = definitions.some(({ webhook }) => webhook.in === 'seed');
    const { files, seeds } = await clustersOf(values, needsSeeds);
    const tokenHashes = tokenHashesOf(values);
    const https = await webhooksOf(values, httpsOptions);
    const log = createLog(logLevelOf(values));
    const signalled = untilSignal();
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
    const running =
      https === undefined
        ? await serveHttp(portOf(values, 'port') ?? HTTP_PORT, { functions, tokenHashes }, dependencies)
        : await serveHttps({ ...https, tokenHashes }, portOf(values, 'port'), dependencies, metrics);
    const paths = definitions.map(({ webhook }) => webhook.path).join(' and ');
    terminal.err(`shoot-flux serves ${paths} on port ${running.port}${running.probes}\n`);
    log.info('stopping', { signal: await signalled });
    await running.stop();
    return exitCodes.success;
  },
});

/** Knative and other platforms pass another one in `PORT`. */
const HTTP_PORT = 8080;

interface Running {
  port: number;
  /** What the first line says about the probes. */
  probes: string;
  /** Finishes the answers in progress. */
  stop(): Promise<void>;
}

async function serveHttp(
  port: number,
  { functions, tokenHashes }: Pick<WebhookOptions, 'functions' | 'tokenHashes'>,
  dependencies: WebhookDependencies,
): Promise<Running> {
  const served = await servedWebhooks(functions, dependencies);
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
    status: () => ({ selections: [] }),
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

/** Serves every webhook at its path over HTTP, behind a proxy that terminates TLS, and `/healthz`. */
async function startPlainServer(options: { port: number } & ResponderOptions): Promise<Omit<Running, 'probes'>> {
  const respond = createResponder(options);
  let isStopping = false;
  const server = createServer(serverLimits, (request, response) => {
    if (request.method === 'GET' && request.url === '/healthz') response.end('ok\n');
    else void respond(request, response, () => isStopping);
  });
  bound(server);
  const port = await listen(server, options.port);
  return {
    port,
    async stop() {
      isStopping = true;
      await close(server);
    },
  };
}
