import { createServer } from 'node:http';
import { listen } from '../listen.ts';
import { TIMEOUT_SECONDS } from './answer.ts';
import { close } from './close.ts';
import { respond, type Served } from './respond.ts';

/** The webhooks over HTTP, behind something that ends TLS. */
export interface PlainServer {
  port: number;
  /** Lets answers end that are under way. */
  stop(): Promise<void>;
}

/** Serves every function at its path, and tells whoever asks for `/healthz` that it does. */
export async function startPlainServer(options: { port: number; served: Served[] }): Promise<PlainServer> {
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
