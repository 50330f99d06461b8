import { createServer } from 'node:https';
import { boundCallers } from '../callers.ts';
import { listen } from '../listen.ts';
import type { KeyPair } from './certificates.ts';
import { close } from './close.ts';
import { boundConnections, serverLimits } from './connections.ts';
import { createResponder, type ResponderOptions } from './respond.ts';

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
const HANDSHAKE_MS = 5_000;

/** Serves every webhook at its path over HTTPS. Until `use` is called every handshake fails. */
export async function startWebhookServer(options: { port: number } & ResponderOptions): Promise<WebhookServer> {
  const respond = createResponder(options);
  let isStopping = false;
  let used: string | undefined;
  const server = createServer(
    { ...serverLimits, keepAliveTimeout: KEEP_ALIVE_MS, handshakeTimeout: HANDSHAKE_MS },
    (request, response) => {
      connections.begin(request, response);
      void respond(request, response, () => isStopping);
    },
  );
  const connections = boundConnections(server, () => isStopping);
  boundCallers(server, 'secureConnection');
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
      connections.closeIdle();
      await closed;
    },
  };
}
