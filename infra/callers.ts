import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { takeTurns } from '../shared/kube/pieces.ts';

/** API servers, kubelet and Prometheus wait for each answer before they ask again. */
const MOST_AT_ONCE = 8;

/**
 * Keeps callers from occupying the thread: what they send is parsed in turns, and one that asks again and again without
 * waiting for answers is disconnected. Node.js itself parses thousands of requests of one connection in one turn.
 */
export function boundCallers(server: Server, connected: 'connection' | 'secureConnection'): void {
  const waiting = new WeakMap<Socket, number>();
  server.on(connected, (socket: Socket) => {
    takeTurns(socket, socket.remoteAddress ?? '');
    // Without a listener the parser reads from the system, past the socket.
    socket.on('data', () => {});
  });
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count > MOST_AT_ONCE) socket.destroy();
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
  });
}
