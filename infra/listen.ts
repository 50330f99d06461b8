import type { AddressInfo, Server } from 'node:net';
import { ShootFluxError } from '../shared/errors.ts';

/**
 * Lets a server listen.
 * @param port 0 takes a free one
 * @returns the port that it has
 * @throws ShootFluxError when the port cannot be had
 */
export async function listen(server: Server, port: number): Promise<number> {
  const listening = Promise.withResolvers<void>();
  server.once('error', ({ message }) => {
    listening.reject(new ShootFluxError(`port ${port} cannot be served (${message}): take another one.`));
  });
  server.listen(port, listening.resolve);
  await listening.promise;
  return (server.address() as AddressInfo).port;
}
