import type { Server } from 'node:http';
import { TIMEOUT_SECONDS } from './answer.ts';

/** Lets answers end that are under way; no API server waits longer for one, so whoever still asks then is cut off. */
export async function close(server: Pick<Server, 'close' | 'closeAllConnections'>): Promise<void> {
  // A server that closes no longer looks after the time limits of its requests.
  const limit = setTimeout(() => server.closeAllConnections(), TIMEOUT_SECONDS * 1000);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(limit);
}
