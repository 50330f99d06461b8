import { openQueue, type Running } from '../../events/queue/queue.ts';
import { createWatcher } from '../../events/watcher/watcher.ts';
import type { RequestInfo } from '../../shared/kube/http-client.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { ClusterCredentials } from '../../shared/runtime/clusters.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { findDefinitions, findFunctions } from '../functions.ts';
import { clientsOf } from './clients.ts';
import { startProber } from './cluster-prober.ts';
import { endpointsOn } from './endpoints.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createPrometheusMetrics } from './metrics.ts';
import { startThreadedFunctions } from './threaded-functions.ts';
import { serveWebhooks, type WebhookOptions } from './webhooks.ts';

export interface ProductOptions {
  /** Returns the credentials for `watcher`, `heartbeat`, or a function by its name; all may share one identity. */
  credentials(identity: string): ClusterCredentials;
  settings: Settings;
  log: Log;
  /** Port for `/healthz`, `/readyz` and `/metrics`; 0 chooses a free port. Absent: no endpoints. */
  port?: number | undefined;
  webhooks?: WebhookOptions | undefined;
  /**
   * Kubeconfig files, or `in-cluster`, by cluster name, for a thread in which functions run and reviews are answered, so
   * that none of them can block the process. Absent: they share the thread of the process, and its credentials.
   */
  threadKubeconfigs?: Record<string, string> | undefined;
  /** The extension's namespace by seed, in which the heartbeat of `shootHealth` is written. Absent: no heartbeat. */
  heartbeat?: Record<string, string> | undefined;
  resyncSeconds?: number | undefined;
  /** Slots of each function: runs at a time that work rather than wait. */
  concurrency?: number | undefined;
  /** Called for every request to an API server. */
  onRequest?: ((identity: string, cluster: string, info: RequestInfo) => void) | undefined;
}

export type Product = Awaited<ReturnType<typeof startProduct>>;

/** Starts queue, functions and watcher. Returns when changes can arrive, before any is handled. */
export async function startProduct(options: ProductOptions) {
  const { settings, log } = options;
  await using starting = new AsyncDisposableStack();
  const metrics = createPrometheusMetrics();
  const definitions = await findDefinitions();
  // A counter that appears with its first failure shows no increase, so an alert would miss it.
  for (const { name } of definitions) metrics.count('terminal_total', { function: name }, 0);
  const health = createClusterHealth();
  const kubeOf = (identity: string) => clientsOf(identity, { ...options, metrics, health });
  const watcherKube = kubeOf('watcher');

  const queue = openQueue({ definitions, metrics, health, concurrency: options.concurrency });
  starting.defer(queue.stop);
  const watcher = createWatcher({
    ...{ definitions, clusters: { garden: true, seeds: settings.seeds }, kube: watcherKube, emit: queue.add },
    ...{ health, log, metrics },
    ...(options.resyncSeconds === undefined ? {} : { resyncSeconds: options.resyncSeconds }),
  });
  const { threadKubeconfigs: kubeconfigs } = options;
  const onSuspect = (cluster: string) => prober.ask(cluster);
  const thread =
    kubeconfigs && startThreadedFunctions({ definitions, kubeconfigs, settings, health, log, metrics, onSuspect });
  if (thread !== undefined) starting.defer(thread.stop);
  const prober = startProber({
    ...{ health, clusters: [GARDEN, ...settings.seeds], kube: watcherKube, log, metrics },
    wasAnswered: thread?.wasAnswered,
  });
  starting.defer(prober.stop);
  // Before anything runs: a port may be taken.
  const { answererOf } = thread ?? {};
  const webhooks =
    options.webhooks &&
    (await serveWebhooks(options.webhooks, { clientsOf: kubeOf, settings, log, metrics, answererOf }));
  if (webhooks !== undefined) starting.defer(webhooks.stop);
  let running: Running | undefined;
  const alive = () => watcher.alive() && running?.alive() !== false && thread?.alive() !== false;
  const endpoints = await endpointsOn(options.port, {
    ...{ alive, ready: () => watcher.ready() && webhooks?.status().ready !== false, status: watcher.status },
    ...{ clusters: health.status, webhooks: webhooks?.status, metrics },
    ...{ depths: queue.depths, deadLetters: queue.deadLetters.list },
  });
  if (endpoints !== undefined) starting.defer(endpoints.stop);
  running = queue.start(thread?.functions ?? (await findFunctions()), ({ name }) => ({
    ...{ kube: kubeOf(name), settings, now: () => new Date(), log, metrics },
  }));
  starting.defer(running.stop);
  watcher.start();
  starting.defer(watcher.stop);
  const heartbeat = startHeartbeat({
    ...{ namespaces: options.heartbeat ?? {}, kube: kubeOf('heartbeat'), alive },
    ...{ now: () => new Date(), log, metrics },
  });
  starting.defer(heartbeat.stop);
  const started = starting.move();
  return {
    port: endpoints?.port,
    webhookPort: webhooks?.port,
    watcher,
    /** Stops watching, waits for current runs, and closes the queue. */
    stop: () => started.disposeAsync(),
  };
}
