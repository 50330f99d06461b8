import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { listen } from '../listen.ts';
import { TIMEOUT_SECONDS } from './answer.ts';
import type { KeyPair } from './certificates.ts';
import { close } from './close.ts';
import { respond, type Served } from './respond.ts';

export interface WebhookServer {
  port: number;
  /** Serves new connections with this certificate; those that are open keep theirs, so no call is dropped. */
  use(certificate: KeyPair): void;
  /** Lets answers end that are under way. */
  stop(): Promise<void>;
}

/** An API server drops an idle connection after 90 s; whoever does it first makes the other write into a closed one. */
const KEEP_ALIVE_MS = 120_000;

/** A connection that says nothing must not keep the process from ending. */
const HANDSHAKE_MS = 10_000;

/** Nor keep what it has sent for longer than an API server waits. */
const REQUEST_MS = TIMEOUT_SECONDS * 1000;

/** Serves every function at its path. Until a certificate is there every handshake fails. */
export async function startWebhookServer(options: { port: number; served: Served[] }): Promise<WebhookServer> {
  const idle = new Set<Socket>();
  let isStopping = false;
  let used: string | undefined;
  const server = createServer(
    { requestTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS, handshakeTimeout: HANDSHAKE_MS },
    (request, response) => {
      const { socket } = request;
      idle.delete(socket);
      response.once('close', () => {
        if (!socket.destroyed) idle.add(socket);
      });
      void respond(request, response, options.served, () => isStopping);
    },
  );
  server.on('secureConnection', (socket) => {
    // Its handshake was under way when we stopped.
    if (isStopping) socket.destroy();
    else idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  });
  const port = await listen(server, options.port);
  return {
    port,
    use(certificate) {
      if (certificate.cert === used) return;
      server.setSecureContext(certificate);
      used = certificate.cert;
    },
    async stop() {
      isStopping = true;
      const closed = close(server);
      // Node closes only those that have asked before; one that has never asked would keep it for ever.
      for (const socket of idle) socket.destroy();
      await closed;
    },
  };
}
