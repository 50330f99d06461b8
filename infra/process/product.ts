import { openQueue, type Queue, type QueueOptions, type Running } from '../../events/queue/queue.ts';
import type { OpenSender } from '../../events/transport.ts';
import type { WatchedClusters } from '../../events/watcher/selections.ts';
import { createWatcher } from '../../events/watcher/watcher.ts';
import type { RequestInfo } from '../../shared/kube/http-client.ts';
import { type ClusterHealth, createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import type { ClusterCredentials } from '../../shared/runtime/clusters.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { findDefinitions, findFunctions } from '../functions.ts';
import { serveWebhooks, type WebhookOptions } from '../webhooks/webhooks.ts';
import { clientsOf } from './clients.ts';
import { startProber } from './cluster-prober.ts';
import { startEndpoints } from './endpoints.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createPrometheusMetrics, type PrometheusMetrics } from './metrics.ts';
import { createShootNumbers } from './shoot-numbers.ts';
import { startThreadedFunctions } from './threaded-functions.ts';

/** What every process has that watches. */
interface ProcessOptions {
  /** Returns the credentials for `watcher`, `heartbeat`, or a function by its name; all may share one identity. */
  credentials(identity: string): ClusterCredentials;
  log: Log;
  /** Port for `/healthz`, `/readyz` and `/metrics`; 0 chooses a free port. Absent: no endpoints. */
  port?: number | undefined;
  /** The extension's namespace by seed, in which the heartbeat of `shootHealth` is written. Absent: no heartbeat. */
  heartbeat?: Record<string, string> | undefined;
  resyncSeconds?: number | undefined;
  /** Called for every request to an API server. */
  onRequest?: ((identity: string, cluster: string, info: RequestInfo) => void) | undefined;
}

export interface ProductOptions extends ProcessOptions {
  settings: Settings;
  webhooks?: WebhookOptions | undefined;
  /** The Flux releases of the distribution, for the metric about those that are behind. */
  releases?: readonly string[] | undefined;
  /**
   * Kubeconfig files, or `in-cluster`, by cluster name, for a thread in which functions run and reviews are answered, so
   * that none of them can block the process. Absent: they share the thread of the process, and its credentials.
   */
  threadKubeconfigs?: Record<string, string> | undefined;
  /** Slots of each function: runs at a time that work rather than wait. */
  concurrency?: number | undefined;
}

export interface WatchingOptions extends ProcessOptions {
  clusters: WatchedClusters;
  /** Opens where changes of these functions are sent. */
  open(definitions: FunctionDefinition[], own: OwnProcess): Promise<OpenSender>;
}

/** What a transport can use of the process that watches. */
export interface OwnProcess {
  queue: Queue;
  health: ClusterHealth;
  log: Log;
  metrics: PrometheusMetrics;
}

export type Product = Awaited<ReturnType<typeof startProduct>>;

/**
 * How many changes of a function are sent at a time, and how many of the background per second. SQS and brokers deliver
 * in the order of arrival: 10,000 Shoots that a first list finds would stand before gardenlet's request. The three
 * instances that a project may take on SQS handle about thirty changes per second, so at this pace nothing waits, even if
 * all Shoots are of one project; the first list of 10,000 Shoots takes 330 s, the resync needs 3 per second. One change of a
 * function that sends changes on becomes one for each Shoot of a project.
 */
const toTransport: Pick<QueueOptions, 'concurrency' | 'backgroundPerSecond'> = {
  concurrency: 100,
  backgroundPerSecond: ({ sends }) => (sends ? 1 : 30),
};

/**
 * Starts a watcher, and what takes its changes: functions in this process, or elsewhere, where `open` sends them. Returns
 * when it watches, before the first list is complete.
 */
export async function startProduct(options: ProductOptions | WatchingOptions) {
  const { log, resyncSeconds } = options;
  const here = 'open' in options ? undefined : options;
  const clusters = 'open' in options ? options.clusters : { garden: true, seeds: options.settings.seeds };
  const names = [...(clusters.garden ? [GARDEN] : []), ...clusters.seeds];
  await using starting = new AsyncDisposableStack();
  const deferred = <T extends { stop(): Promise<void> } | undefined>(part: T): T => {
    if (part !== undefined) starting.defer(() => part.stop());
    return part;
  };
  const metrics = createPrometheusMetrics();
  const definitions = await findDefinitions();
  const health = createClusterHealth();
  const kubeOf = (identity: string) => clientsOf(identity, { ...options, metrics, health });
  const kube = kubeOf('watcher');
  const limits = here ? { concurrency: here.concurrency } : toTransport;
  const queue = deferred(openQueue({ definitions, metrics, health, ...limits }));
  const own: OwnProcess = { queue, health, log, metrics };
  const numbers = createShootNumbers(metrics, here?.releases ?? []);
  const { observerOf } = numbers;
  const watcher = createWatcher({ ...own, definitions, clusters, kube, emit: queue.add, observerOf, resyncSeconds });

  const destination = 'open' in options ? deferred(await options.open(definitions, own)) : undefined;
  const sender = destination?.sender;
  const forwarding = sender && deferred(queue.forward({ sender, log, metrics }));
  const kubeconfigs = here?.threadKubeconfigs;
  const onSuspect = (cluster: string) => prober.ask(cluster);
  const thread =
    kubeconfigs &&
    deferred(startThreadedFunctions({ ...own, definitions, kubeconfigs, settings: here.settings, onSuspect }));
  const prober = deferred(startProber({ ...own, clusters: names, kube }));
  const answererOf = thread?.answererOf;
  // Before anything runs: a port may be taken.
  const webhooks =
    here?.webhooks &&
    deferred(
      await serveWebhooks(here.webhooks, { clientsOf: kubeOf, settings: here.settings, log, metrics, answererOf }),
    );
  let running: Running | undefined;
  const alive = () => watcher.alive() && [forwarding, running, thread].every((part) => part?.alive() !== false);
  let wasReady = false;
  const ready = () => {
    wasReady ||= watcher.ready() && forwarding?.accepts() !== false;
    return wasReady && webhooks?.status().ready !== false;
  };
  const endpoints = deferred(
    await startEndpoints(options.port, {
      ...{ alive, ready, status: watcher.status, clusters: health.status, metrics, collect: numbers.collect },
      ...{ queues: forwarding?.status, webhooks: webhooks?.status, deadLetters: destination?.deadLetters },
      ...(here && { depths: queue.depths, deadLetters: queue.deadLetters.list }),
    }),
  );
  if (here !== undefined) {
    // A counter that appears with its first failure shows no increase, so an alert would miss it.
    for (const { name } of definitions) metrics.count('terminal_total', { function: name }, 0);
    const context = { settings: here.settings, now: () => new Date(), log, metrics };
    const functions = thread?.functions ?? (await findFunctions());
    running = deferred(queue.start(functions, ({ name }) => ({ ...context, kube: kubeOf(name) })));
  }
  deferred(watcher).start();
  // Conditions can only be up to date while changes reach the functions.
  const delivers = () => alive() && (forwarding?.status() ?? []).every(({ problem }) => problem === undefined);
  const namespaces = options.heartbeat ?? {};
  deferred(startHeartbeat({ namespaces, kube: kubeOf('heartbeat'), alive: delivers, log, metrics }));
  deferred(destination?.startHeartbeat?.({ clusters: names, alive: delivers, log }));
  const started = starting.move();
  return {
    port: endpoints?.port,
    webhookPort: webhooks?.port,
    watcher,
    /** Stops watching, waits for current runs, and closes the queue. */
    stop: () => started.disposeAsync(),
  };
}
