import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What the proxy does with bytes: pass them on, swallow them as a broken network does, or refuse connections. */
export type Behaviour = 'forward' | 'swallow' | 'refuse';

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

/**
 * Starts a proxy in front of a server. It swallows bytes also on connections that exist; what was swallowed never
 * arrives, so such a connection stays dead when the proxy forwards again.
 * @param onBytes called before bytes are passed on; it may change the behaviour
 */
export async function startTcpProxy(server: string, onBytes?: (from: 'client' | 'server') => void) {
  const target = new URL(server);
  const sockets = new Set<Socket>();
  let behaviour: Behaviour = 'forward';
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let isDead = false;
    const pass = (from: Socket, to: Socket) => {
      sockets.add(from);
      from.on('data', (bytes) => {
        onBytes?.(from === client ? 'client' : 'server');
        isDead ||= behaviour === 'swallow';
        if (!isDead) to.write(bytes);
      });
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    };
    pass(client, upstream);
    pass(upstream, client);
    if (behaviour === 'refuse') client.resetAndDestroy();
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    behave(next: Behaviour) {
      behaviour = next;
      if (next === 'refuse') for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
