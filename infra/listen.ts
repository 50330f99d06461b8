import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { ShootFluxError } from '../shared/errors.ts';

/**
 * Starts listening, and returns the port; 0 chooses a free one.
 * @param host default: all addresses
 * @throws ShootFluxError when it is not available
 */
export async function listen(server: Server, port: number, host?: string): Promise<number> {
  const listening = Promise.withResolvers<void>();
  server.once('error', ({ message }) => {
    listening.reject(new ShootFluxError(`port ${port} is not available (${message}); choose another one.`));
  });
  server.listen(port, host, listening.resolve);
  await listening.promise;
  return (server.address() as AddressInfo).port;
}

/** Takes no more connections, and finishes the requests under way until the deadline. */
export async function closeServer(server: HttpServer, deadlineMs: number): Promise<void> {
  // A closing server no longer enforces the time limits of its requests.
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(deadline);
}
