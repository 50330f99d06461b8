import { createServer } from 'node:http';
import { boundCallers } from '../callers.ts';
import { listen } from '../listen.ts';
import { close } from './close.ts';
import { SILENT_MS, serverLimits } from './connections.ts';
import { createResponder, type ResponderOptions } from './respond.ts';

/** Serves the webhooks over HTTP, behind a proxy that terminates TLS. */
export interface PlainServer {
  port: number;
  /** Finishes the answers in progress. */
  stop(): Promise<void>;
}

/** The proxy needs one for each request at the same time. */
const MOST_CONNECTIONS = 512;

/** Serves every webhook at its path, and `/healthz`. */
export async function startPlainServer(options: { port: number } & ResponderOptions): Promise<PlainServer> {
  const respond = createResponder(options);
  let isStopping = false;
  const server = createServer(serverLimits, (request, response) => {
    if (request.method === 'GET' && request.url === '/healthz') response.end('ok\n');
    else void respond(request, response, () => isStopping);
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.timeout = SILENT_MS;
  boundCallers(server, 'connection');
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
