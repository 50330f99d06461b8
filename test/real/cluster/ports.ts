import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/**
 * Below the ports that the system gives to connections and to servers without a port of their own (from 32768 on
 * Linux): it would give one of ours away while the program that has it starts, or starts again.
 */
const FIRST = 20_000;
/** Each worker of the test runner has so many of its own, because a port is free until its program has started. */
const PORTS = 2000;

/** Counted on, so that no program gets the port of another one that starts at the same time. */
let next = Math.floor(Math.random() * PORTS);

/** Returns ports on which nothing listens. */
export async function freePorts(count: number): Promise<number[]> {
  const worker = Number(process.env.VITEST_POOL_ID ?? 1);
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = FIRST + PORTS * (worker - 1) + (next++ % PORTS);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    // On all addresses, as most programs listen.
    await once(server.listen(port), 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}

/** Listens on a port of the loopback interface; disposing ends the connections, too. */
export async function listen(
  server: Server & { closeAllConnections?(): void },
): Promise<AsyncDisposable & { host: string; port: number }> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections?.();
      await closed;
    },
  };
}
