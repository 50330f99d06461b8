import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Returns free ports of the loopback interface. All are held at once, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ports.push((server.address() as AddressInfo).port);
  }
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
