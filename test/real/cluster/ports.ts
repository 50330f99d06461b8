import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that the system gives to connections and to servers without a port of their own (from 32768 on
 * Linux): it would give one of ours away while the program that has it starts, or starts again.
 */
const FIRST = 20_000;
/** Each worker of the test runner has so many of its own: a port is free until its program has started. */
const PORTS = 4000;

/** Returns ports on which nothing listens. */
export async function freePorts(count: number): Promise<number[]> {
  const worker = Number(process.env.VITEST_POOL_ID ?? 1);
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = FIRST + PORTS * ((worker - 1) % 3) + Math.floor(Math.random() * PORTS);
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
