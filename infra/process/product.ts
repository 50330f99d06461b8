import { openBridge } from '../../events/embedded/bridge.ts';
import { createWatcher, type Watcher } from '../../events/watcher/watcher.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { RequestInfo } from '../../shared/kube/http-client.ts';
import { type ClusterCredentials, createClusters } from '../../shared/runtime/clusters.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { findFunctions } from '../functions.ts';
import { startHeartbeat } from '../heartbeat/heartbeat.ts';
import { type Endpoints, type Probes, startEndpoints } from './endpoints.ts';
import { createPrometheusMetrics } from './metrics.ts';
import { serveWebhooks, type WebhookOptions } from './webhooks.ts';

export interface ProductOptions {
  /**
   * How the clusters are reached, for the watcher (`watcher`) and for each function by its name. One identity may
   * serve all, or each may have just its own rights.
   */
  credentials(identity: string): ClusterCredentials;
  settings: Settings;
  log: Log;
  /** For `/healthz`, `/readyz` and `/metrics`; 0 takes a free one; absent: no endpoints. */
  port?: number | undefined;
  /** Answers API servers; absent: no API server calls here. */
  webhooks?: WebhookOptions | undefined;
  /**
   * Where the heartbeat of `shootHealth` is written, the extension's own namespace by seed; absent: no heartbeat.
   */
  heartbeat?: Record<string, string> | undefined;
  /** Another SQS than the embedded one. */
  sqsEndpoint?: string | undefined;
  resyncSeconds?: number | undefined;
  /** Runs of one function side by side. Default 10. */
  concurrency?: number | undefined;
  /** Sees every request to an API server, for counting. */
  onRequest?: ((identity: string, cluster: string, info: RequestInfo) => void) | undefined;
}

/** The whole product in one process. */
export interface Product {
  /** Of the endpoints, when there are any. */
  port?: number | undefined;
  /** Of the webhooks, when they are served. */
  webhookPort?: number | undefined;
  watcher: Watcher;
  /** Stops watching, lets runs end that are under way, and closes the queue. */
  stop(): Promise<void>;
}

/** Starts queues, functions and watcher; returns when the first changes may come, not when they are done. */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const { settings, log } = options;
  const metrics = createPrometheusMetrics();
  const functions = await findFunctions();
  const definitions = functions.map(({ definition }) => definition);
  // An alert on an increase never sees the first failure of a counter that appears with it.
  for (const { name } of definitions) metrics.count('terminal_total', { function: name }, 0);
  const clientsOf = (identity: string) => clients(identity, options, metrics);

  const bridge = await openBridge({ definitions, log, endpoint: options.sqsEndpoint });
  const watcher = createWatcher({
    definitions,
    clusters: { garden: true, seeds: settings.seeds },
    kube: clientsOf('watcher'),
    send: (changes) => bridge.sender.send(changes),
    log,
    metrics,
    ...(options.resyncSeconds === undefined ? {} : { resyncSeconds: options.resyncSeconds }),
  });
  const serve = async () => {
    const webhooks = options.webhooks && (await serveWebhooks(options.webhooks, { clientsOf, settings, log, metrics }));
    const ready = () => watcher.ready() && webhooks?.status().ready !== false;
    const probes = { alive: watcher.alive, ready, status: watcher.status, webhooks: webhooks?.status, metrics };
    const endpoints = await endpointsOn(options.port, probes).catch(async (error: unknown) => {
      await webhooks?.stop();
      throw error;
    });
    return { webhooks, endpoints };
  };
  // Before anything runs: a port that is taken ends the start, and only the queue has to be closed then.
  const { webhooks, endpoints } = await serve().catch(async (error: unknown) => {
    await bridge.stop();
    throw error;
  });
  const running = bridge.start(
    functions,
    ({ name }) => ({ kube: clientsOf(name), settings, now: () => new Date(), log, metrics }),
    options.concurrency === undefined ? {} : { concurrency: options.concurrency },
  );
  watcher.start();
  const heartbeat = startHeartbeat({
    ...{ namespaces: options.heartbeat ?? {}, kube: clientsOf('heartbeat'), alive: watcher.alive },
    ...{ now: () => new Date(), log, metrics },
  });

  return {
    port: endpoints?.port,
    webhookPort: webhooks?.port,
    watcher,
    async stop() {
      await heartbeat.stop();
      await watcher.stop();
      await running.stop();
      await bridge.stop();
      await webhooks?.stop();
      await endpoints?.stop();
    },
  };
}

async function endpointsOn(port: number | undefined, probes: Probes): Promise<Endpoints | undefined> {
  return port === undefined ? undefined : startEndpoints(port, probes);
}

/** Clients of one identity, for one run when a signal is given; requests are counted by cluster. */
function clients(identity: string, { credentials, onRequest }: ProductOptions, metrics: Metrics) {
  const clusters = createClusters(credentials(identity), { userAgent: `shoot-flux/${identity}` });
  return async (cluster: string, signal?: AbortSignal): Promise<KubeClient> => {
    const client = await clusters(cluster);
    return client.with({
      ...(signal === undefined ? {} : { signal }),
      onRequest(info) {
        const labels = { function: identity, cluster, method: info.method, status: String(info.status) };
        metrics.count('requests_total', labels);
        onRequest?.(identity, cluster, info);
      },
    });
  };
}
