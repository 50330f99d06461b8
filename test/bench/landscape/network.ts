import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network path to an API server on this machine that can swallow packets. */
export interface NetworkPath extends AsyncDisposable {
  port: number;
  /** From now on nothing passes in either direction; connections stay open, and new ones are accepted. */
  swallow(): void;
  /** Drops the connections that hang, and forwards again. */
  recover(): void;
}

/** Listens on loopback and forwards to a port there. */
export async function networkPath(target: number): Promise<NetworkPath> {
  const sockets = new Set<Socket>();
  let swallows = false;
  const server = createServer((inner) => {
    keep(inner);
    if (swallows) return;
    const outer = connect(target, '127.0.0.1');
    keep(outer);
    inner.on('data', (data) => swallows || outer.write(data));
    outer.on('data', (data) => swallows || inner.write(data));
    inner.on('close', () => outer.destroy());
    outer.on('close', () => swallows || inner.destroy());
  });
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  };
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    swallow: () => {
      swallows = true;
    },
    recover: () => {
      swallows = false;
      drop();
    },
    async [Symbol.asyncDispose]() {
      drop();
      server.close();
      await once(server, 'close');
    },
  };
}
