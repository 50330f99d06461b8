import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';

/** What the stand-in writes to a connection after a request has arrived. */
export type Script = (socket: TLSSocket, request: string) => void;

/** A stand-in for an API server that writes any bytes over TLS, also such that no HTTP server would write. */
export interface HostileApi extends AsyncDisposable {
  url: string;
  /** Requests that have arrived. */
  requests: number;
}

export async function startHostileApi(tls: TlsOptions, script: Script): Promise<HostileApi> {
  const sockets = new Set<TLSSocket>();
  const server = createServer(tls, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (bytes) => {
      api.requests++;
      script(socket, bytes.toString('latin1'));
    });
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const api: HostileApi = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return api;
}

/** The head of an answer without a length: it ends when the connection does. */
export function head(status = '200 OK', headers: Record<string, string> = {}): string {
  const lines = Object.entries({ 'content-type': 'application/json', connection: 'close', ...headers });
  return `HTTP/1.1 ${status}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

/** Writes a chunk again and again, as fast as the other side reads, until the connection is closed. */
export function stream(socket: TLSSocket, chunk: string | Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}
