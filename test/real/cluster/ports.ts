import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that the system gives to connections and to servers without a port of their own (from 32768 on
 * Linux): it would give one of ours away while the program that has it starts, or starts again.
 */
const [FIRST, LAST] = [20_000, 32_000];

/** Returns ports on which nothing listens. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
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
