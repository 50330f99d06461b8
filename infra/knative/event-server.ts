import { createServer, type ServerResponse } from 'node:http';
import { answering, type Receive } from '../../events/cloudevents/answer.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { closeServer, listen } from '../listen.ts';
import type { PrometheusMetrics } from '../process/metrics.ts';

interface EventServerOptions {
  /** 0 chooses a free port. */
  port: number;
  receive: Receive;
  log: Log;
  metrics: PrometheusMetrics;
}

const limits = { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };
const MOST_CONNECTIONS = 1000;
/** Proxies keep connections for a minute and more: closed by us first, one in use would break. */
const KEEP_MS = 120_000;

/**
 * Serves events by POST at any path, and `/healthz`, `/readyz` and `/metrics`. While it stops, requests on connections that
 * are still open are refused with 503, so that the broker sends their events again.
 * @throws ShootFluxError when the port is not available
 */
export async function startEventServer({ port, receive, log, metrics }: EventServerOptions) {
  const answer = answering(receive, { log, metrics });
  let isStopping = false;
  const server = createServer(limits, (request, response) => {
    if (isStopping) response.setHeader('connection', 'close');
    if (request.method === 'GET') return void page(request.url ?? '/', response, metrics, isStopping);
    if (isStopping) return send(response, 503, 'This instance ends; send the event again.');
    if (request.method !== 'POST') return send(response, 405, 'Send a CloudEvent by POST.');
    answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = KEEP_MS;
  server.maxConnections = MOST_CONNECTIONS;
  return {
    port: await listen(server, port),
    /** Takes no more events, and finishes those under way until the deadline. */
    stop(deadlineMs: number): Promise<void> {
      isStopping = true;
      return closeServer(server, deadlineMs);
    },
  };
}

async function page(url: string, response: ServerResponse, metrics: PrometheusMetrics, isStopping: boolean) {
  const path = url.split('?', 1)[0];
  if (path === '/healthz') return send(response, 200, 'ok');
  if (path === '/readyz') return send(response, isStopping ? 503 : 200, isStopping ? 'ending' : 'ok');
  if (path !== '/metrics') return send(response, 404, 'Not found. Try /healthz, /readyz or /metrics.');
  const { contentType, text } = await metrics.expose();
  response.writeHead(200, { 'content-type': contentType }).end(text);
}

function send(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${sentence}\n`);
}
