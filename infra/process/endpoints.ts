import { createServer } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { DeadLetters } from '../../events/queue/dead-letters.ts';
import type { QueueStatus } from '../../events/queue/forwarder.ts';
import type { Queue } from '../../events/queue/queue.ts';
import type { SelectionStatus } from '../../events/watcher/watcher.ts';
import type { ClusterStatus } from '../../shared/runtime/cluster-health.ts';
import { closeServer, listen } from '../listen.ts';
import type { WebhooksStatus } from '../webhooks/webhooks.ts';
import type { PrometheusMetrics } from './metrics.ts';

export interface Probes {
  /** Absent when the process only answers. */
  alive?: () => boolean;
  ready(): boolean;
  /** Absent when nothing is watched. */
  status?: () => SelectionStatus[];
  /** Absent when the functions run in this process, or nothing is watched. */
  queues?: (() => QueueStatus[]) | undefined;
  clusters?: () => ClusterStatus[];
  /** Absent when no webhooks are served. */
  webhooks?: (() => WebhooksStatus) | undefined;
  metrics: PrometheusMetrics;
  /** Sets the gauges about Shoots. Absent when nothing is watched. */
  collect?: () => void;
  /** Absent when the functions run elsewhere. */
  depths?: Queue['depths'] | undefined;
  /** Absent when another queue keeps them. */
  deadLetters?: DeadLetters['list'] | undefined;
}

/** Callers are not authenticated, and a page takes milliseconds of the thread that everything shares. */
const REUSE_MS = 100;

const MOST_CONNECTIONS = 1000;

/** A connection over which nothing moves for so long is closed. */
export const SILENT_MS = 5_000;

const limits = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 };

/**
 * Serves `/healthz` (the process makes progress), `/readyz` (the first sync is done, or what it waits for), `/metrics`
 * and `/dead-letters` (what was given up), where there is a port.
 * @throws ShootFluxError when the port is not available
 */
export async function startEndpoints(port: number | undefined, probes: Probes) {
  if (port === undefined) return undefined;
  const memoMethod = (path: string) => pageOf(path, probes);
  // So many that requests for unknown paths do not push out the metrics.
  const pages = new LRUCache<string, Promise<Page>>({ max: 1000, ttl: REUSE_MS, memoMethod });
  const server = createServer(limits, ({ url = '/' }, response) => {
    const send = ({ status = 200, text, contentType = 'text/plain; charset=utf-8' }: Page) =>
      response.writeHead(status, { 'content-type': contentType }).end(text);
    pages.memo(url.split('?', 1)[0] ?? '').then(send, () => response.destroy());
  });
  server.maxConnections = MOST_CONNECTIONS;
  // Of requests that are sent ahead only one is answered, so that callers who do not read hold one page each, for a while.
  server.maxRequestsPerSocket = 1;
  server.timeout = SILENT_MS;
  return { port: await listen(server, port), stop: () => closeServer(server, 0) };
}

interface Page {
  status?: number;
  text: string;
  contentType?: string;
}

async function pageOf(path: string, probes: Probes): Promise<Page> {
  const { alive, ready, metrics, deadLetters } = probes;
  if (path === '/healthz') return alive?.() === false ? { status: 503, text: 'no progress\n' } : { text: 'ok\n' };
  if (path === '/readyz') return { status: ready() ? 200 : 503, text: readiness(probes) };
  if (path === '/metrics') {
    metrics.gauge('ready', ready() ? 1 : 0);
    gaugeWatched(probes);
    gaugeQueues(probes);
    probes.collect?.();
    return metrics.expose();
  }
  if (path === '/dead-letters' && deadLetters !== undefined) {
    return { text: `${JSON.stringify(deadLetters(), null, 2)}\n`, contentType: 'application/json' };
  }
  return { status: 404, text: 'Not found. Try /healthz, /readyz, /metrics or /dead-letters.\n' };
}

/** Several selections may be of the same cluster and resource, such as Secrets of different names. */
function gaugeWatched({ status, metrics }: Probes): void {
  const all = status?.() ?? [];
  for (const { cluster, resource } of all) {
    const selections = all.filter((one) => one.cluster === cluster && one.resource === resource);
    const objects = selections.reduce((sum, one) => sum + one.objects, 0);
    metrics.gauge('watcher_objects', objects, { cluster, resource });
    metrics.gauge('watcher_up', selections.every(isFollowed) ? 1 : 0, { cluster, resource });
  }
}

function gaugeQueues({ depths, deadLetters, metrics }: Probes): void {
  if (depths === undefined) return;
  for (const { function: name, depth } of depths()) {
    for (const [state, keys] of Object.entries(depth)) metrics.gauge('queue_keys', keys, { function: name, state });
  }
  metrics.gauge('dead_letters', deadLetters?.().deadLetters.length ?? 0);
}

function isFollowed({ synced, problem }: SelectionStatus): boolean {
  return synced && problem === undefined;
}

/** First the clusters that are down, then one line for each watch. */
function readiness({ status, queues, clusters, webhooks }: Probes): string {
  const down = (clusters?.() ?? [])
    .filter(({ isUp }) => !isUp)
    .map(({ cluster, since, problem }) => `down ${cluster}: no answer since ${since.toISOString()} (${problem})`);
  const watches = (status?.() ?? []).map((selection) => {
    const { cluster, resource, selector, synced, objects, problem } = selection;
    const state = problem ?? (synced ? `${objects} objects` : 'waiting for the first list');
    const named = selector === undefined ? resource : `${resource} ${selector.replace(/^metadata\.name=/, '')}`;
    return `${isFollowed(selection) ? 'ok' : 'not ready'} ${cluster} ${named}: ${state}`;
  });
  const refused = (queues?.() ?? [])
    .filter(({ problem }) => problem !== undefined)
    .map(({ function: name, waiting, problem }) => `not ready queue ${name}: ${waiting} waiting, ${problem}`);
  return `${[...down, ...watches, ...refused, ...webhookLines(webhooks?.())].join('\n')}\n`;
}

function webhookLines(status: WebhooksStatus | undefined): string[] {
  if (status === undefined) return [];
  if (status.problems.length > 0) return status.problems.map((problem) => `not ready webhooks: ${problem}`);
  return [`ok webhooks: certificate until ${status.until?.toISOString()}`];
}
