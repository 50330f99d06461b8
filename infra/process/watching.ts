import { openQueue, type Queue } from '../../events/queue/queue.ts';
import type { OpenSender } from '../../events/transport.ts';
import { createWatcher, type WatchedClusters } from '../../events/watcher/watcher.ts';
import { type ClusterHealth, createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { findDefinitions } from '../functions.ts';
import { clientsOf } from './clients.ts';
import { startProber } from './cluster-prober.ts';
import { endpointsOn } from './endpoints.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createPrometheusMetrics, type PrometheusMetrics } from './metrics.ts';
import type { ProductOptions } from './product.ts';

/** What a transport can use of the process that watches. */
export interface OwnProcess {
  queue: Queue;
  health: ClusterHealth;
  log: Log;
  metrics: PrometheusMetrics;
}

/** As for the whole product: the identities are `watcher` and `heartbeat`. */
interface WatchingOptions
  extends Pick<ProductOptions, 'credentials' | 'log' | 'port' | 'heartbeat' | 'resyncSeconds' | 'onRequest'> {
  clusters: WatchedClusters;
  /** Opens where changes of these functions are sent. */
  open(definitions: FunctionDefinition[], own: OwnProcess): Promise<OpenSender>;
}

/** Starts a watcher that sends to functions elsewhere. Returns when it watches, before the first list is complete. */
export async function startWatching(options: WatchingOptions) {
  const { clusters, log } = options;
  await using starting = new AsyncDisposableStack();
  const metrics = createPrometheusMetrics();
  const definitions = await findDefinitions();
  const health = createClusterHealth();
  const kubeOf = (identity: string) => clientsOf(identity, { ...options, metrics, health });
  const watcherKube = kubeOf('watcher');
  const queue = openQueue({ definitions, metrics, health, concurrency: Infinity });
  starting.defer(queue.stop);
  const destination = await options.open(definitions, { queue, health, log, metrics });
  starting.defer(destination.stop);
  const forwarding = queue.forward({ sender: destination.sender, pace: destination.pace, log, metrics });
  starting.defer(forwarding.stop);
  const watcher = createWatcher({
    ...{ definitions, clusters, kube: watcherKube, emit: queue.add, health, log, metrics },
    ...(options.resyncSeconds === undefined ? {} : { resyncSeconds: options.resyncSeconds }),
  });
  const alive = () => watcher.alive() && forwarding.alive();
  // Conditions can only be up to date while changes reach the functions.
  const delivers = () => alive() && forwarding.status().every(({ problem }) => problem === undefined);
  let wasReady = false;
  const ready = () => {
    wasReady ||= watcher.ready() && forwarding.accepts();
    return wasReady;
  };
  const endpoints = await endpointsOn(options.port, {
    ...{ alive, ready, status: watcher.status },
    ...{ queues: forwarding.status, clusters: health.status, metrics, deadLetters: destination.deadLetters },
  });
  if (endpoints !== undefined) starting.defer(endpoints.stop);
  const names = [...(clusters.garden ? [GARDEN] : []), ...clusters.seeds];
  const prober = startProber({ health, clusters: names, kube: watcherKube, log, metrics });
  starting.defer(prober.stop);
  watcher.start();
  starting.defer(watcher.stop);
  const heartbeat = startHeartbeat({
    ...{ namespaces: options.heartbeat ?? {}, kube: kubeOf('heartbeat'), alive: delivers },
    ...{ now: () => new Date(), log, metrics },
  });
  starting.defer(heartbeat.stop);
  const shown = destination.startHeartbeat?.({ clusters: names, alive: delivers, log });
  if (shown !== undefined) starting.defer(shown.stop);
  const started = starting.move();
  return { port: endpoints?.port, watcher, stop: () => started.disposeAsync() };
}
