import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TIMEOUT_SECONDS } from './answer.ts';

/**
 * Limits of the servers. A request has to arrive well before the API server stops waiting, its headers at once; Node
 * checks both only every 30 s unless it is asked to check more often.
 */
export const serverLimits = {
  requestTimeout: (TIMEOUT_SECONDS - 2) * 1000,
  headersTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
};

/** An answer that the client does not read. */
export const SILENT_MS = 2 * TIMEOUT_SECONDS * 1000;

/** Each takes about 80 KB. An API server opens one for each request at the same time, and keeps it for 90 s. */
const MOST_OPEN = 256;

/** A handshake takes milliseconds; a client that stops in the middle keeps the connection for its time limit. */
const MOST_HANDSHAKES = 128;

/** The connections of a server. */
export interface Connections {
  /** To be called for each request. */
  begin(request: IncomingMessage, response: ServerResponse): void;
  /** Closes those without a request. Node closes only those that have already sent one. */
  closeIdle(): void;
}

/**
 * Bounds the connections of an HTTPS server. Beyond the limit the one that has been idle longest is closed, so that
 * clients that only hold connections do not keep API servers out.
 */
export function boundConnections(server: Server, isStopping: () => boolean): Connections {
  const handshakes = new Map<string, Socket>();
  const open = new Set<Socket>();
  /** In the order in which they became idle. */
  const idle = new Set<Socket>();
  const id = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

  server.maxConnections = 2 * (MOST_OPEN + MOST_HANDSHAKES);
  server.timeout = SILENT_MS;
  server.on('connection', (socket: Socket) => {
    const key = id(socket);
    if (handshakes.size >= MOST_HANDSHAKES) handshakes.values().next().value?.destroy();
    handshakes.set(key, socket);
    socket.once('close', () => {
      if (handshakes.get(key) === socket) handshakes.delete(key);
    });
  });
  server.on('secureConnection', (socket: Socket) => {
    handshakes.delete(id(socket));
    // Its handshake was in progress when the server stopped.
    if (isStopping()) return void socket.destroy();
    if (open.size >= MOST_OPEN) {
      const longestIdle = idle.values().next().value;
      if (longestIdle === undefined) return void socket.destroy();
      longestIdle.destroy();
    }
    open.add(socket);
    idle.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      idle.delete(socket);
    });
  });
  return {
    begin({ socket }, response) {
      idle.delete(socket);
      response.once('close', () => {
        if (!socket.destroyed) idle.add(socket);
      });
    },
    closeIdle() {
      for (const socket of idle) socket.destroy();
    },
  };
}
