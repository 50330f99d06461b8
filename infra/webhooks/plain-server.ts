import { createServer } from 'node:http';
import { listen } from '../listen.ts';
import { TIMEOUT_SECONDS } from './answer.ts';
import { close } from './close.ts';
import { respond, type ServedWebhook } from './respond.ts';

/** Serves the webhooks over HTTP, behind a proxy that terminates TLS. */
export interface PlainServer {
  port: number;
  /** Finishes the answers in progress. */
  stop(): Promise<void>;
}

/** Serves every webhook at its path, and `/healthz`. */
export async function startPlainServer(options: { port: number; served: ServedWebhook[] }): Promise<PlainServer> {
  let isStopping = false;
  const server = createServer({ requestTimeout: TIMEOUT_SECONDS * 1000 }, (request, response) => {
    if (request.method === 'GET' && request.url === '/healthz') response.end('ok\n');
    else void respond(request, response, options.served, () => isStopping);
  });
  const port = await listen(server, options.port);
  return {
    port,
    async stop() {
      isStopping = true;
      const closed = close(server);
      server.closeIdleConnections();
      await closed;
    },
  };
}
