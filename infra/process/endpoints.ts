import { createServer, type Server, type ServerResponse } from 'node:http';
import type { DeadLetters } from '../../events/queue/dead-letters.ts';
import type { WatcherStatus } from '../../events/watcher/watcher.ts';
import type { ClusterStatus } from '../../shared/runtime/cluster-health.ts';
import { listen } from '../listen.ts';
import type { WebhooksStatus } from '../webhooks/webhooks.ts';
import type { PrometheusMetrics } from './metrics.ts';

/** The data that the endpoints serve. */
export interface Probes {
  alive(): boolean;
  ready(): boolean;
  status(): WatcherStatus;
  clusters(): ClusterStatus[];
  /** Absent when no webhooks are served. */
  webhooks?: (() => WebhooksStatus) | undefined;
  metrics: PrometheusMetrics;
  /** Absent when another queue keeps them. */
  deadLetters?: DeadLetters['list'] | undefined;
}

/** A server for probes and metrics. */
export interface Endpoints {
  port: number;
  stop(): Promise<void>;
}

/**
 * Serves `/healthz` (the process makes progress), `/readyz` (the first sync is done, or what it waits for), `/metrics`
 * and `/dead-letters` (what was given up).
 * @throws ShootFluxError when the port is not available
 */
export async function startEndpoints(port: number, probes: Probes): Promise<Endpoints> {
  const server = createServer((request, response) => {
    void answer(request.url ?? '/', response, probes).catch(() => response.destroy());
  });
  return { port: await listen(server, port), stop: () => close(server) };
}

async function answer(url: string, response: ServerResponse, probes: Probes): Promise<void> {
  const path = url.split('?')[0];
  if (path === '/healthz') return text(response, probes.alive() ? 200 : 503, probes.alive() ? 'ok\n' : 'no progress\n');
  if (path === '/readyz') return text(response, probes.ready() ? 200 : 503, readiness(probes));
  if (path === '/metrics') {
    const { contentType, text: body } = await probes.metrics.expose();
    return text(response, 200, body, contentType);
  }
  if (path === '/dead-letters' && probes.deadLetters !== undefined) {
    return text(response, 200, `${JSON.stringify(probes.deadLetters(), null, 2)}\n`, 'application/json');
  }
  return text(response, 404, 'Not found. Try /healthz, /readyz, /metrics or /dead-letters.\n');
}

/** First the clusters that are down, then one line for each watch. */
function readiness({ status, clusters, webhooks }: Probes): string {
  const down = clusters()
    .filter(({ isUp }) => !isUp)
    .map(({ cluster, since, problem }) => `down ${cluster}: no answer since ${since.toISOString()} (${problem})`);
  const { selections, outboxes } = status();
  const watches = selections.map(({ cluster, resource, synced, objects, problem }) => {
    const state = problem ?? (synced ? `${objects} objects` : 'waiting for the first list');
    return `${synced && problem === undefined ? 'ok' : 'not ready'} ${cluster} ${resource}: ${state}`;
  });
  const queues = outboxes
    .filter(({ problem }) => problem !== undefined)
    .map(({ function: name, waiting, problem }) => `not ready queue ${name}: ${waiting} waiting, ${problem}`);
  return `${[...down, ...watches, ...queues, ...webhookLines(webhooks?.())].join('\n')}\n`;
}

function webhookLines(status: WebhooksStatus | undefined): string[] {
  if (status === undefined) return [];
  if (status.problems.length > 0) return status.problems.map((problem) => `not ready webhooks: ${problem}`);
  return [`ok webhooks: certificate until ${status.until?.toISOString()}`];
}

function text(response: ServerResponse, status: number, body: string, contentType = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': contentType }).end(body);
}

function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  return promise;
}
