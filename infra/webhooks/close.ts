import type { Server } from 'node:http';
import { TIMEOUT_SECONDS } from './answer.ts';

/** Closes a server once the answers in progress are sent, at the latest when no API server waits for one any more. */
export async function close(server: Pick<Server, 'close' | 'closeAllConnections'>): Promise<void> {
  // A closing server no longer enforces the time limits of its requests.
  const limit = setTimeout(() => server.closeAllConnections(), TIMEOUT_SECONDS * 1000);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(limit);
}
