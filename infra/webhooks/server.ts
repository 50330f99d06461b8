import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { listen } from '../listen.ts';
import { TIMEOUT_SECONDS } from './answer.ts';
import type { KeyPair } from './certificates.ts';
import { close } from './close.ts';
import { respond, type ServedWebhook } from './respond.ts';

export interface WebhookServer {
  port: number;
  /** Uses this certificate for new connections; open ones keep theirs, so no call is dropped. */
  use(certificate: KeyPair): void;
  /** Finishes the answers in progress. */
  stop(): Promise<void>;
}

/** Longer than the 90 s after which an API server closes an idle connection, so that it never writes into a closed one. */
const KEEP_ALIVE_MS = 120_000;

/** A silent connection must not keep the process from stopping. */
const HANDSHAKE_MS = 10_000;

/** A request is kept no longer than an API server waits. */
const REQUEST_MS = TIMEOUT_SECONDS * 1000;

/** Serves every webhook at its path over HTTPS. Until `use` is called every handshake fails. */
export async function startWebhookServer(options: { port: number; served: ServedWebhook[] }): Promise<WebhookServer> {
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
    // Its handshake was in progress when the server stopped.
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
      // Node closes only connections that have sent a request; others would keep the server open indefinitely.
      for (const socket of idle) socket.destroy();
      await closed;
    },
  };
}
