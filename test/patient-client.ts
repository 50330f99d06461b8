import type { Connection } from '../shared/kube/connection.ts';
import { createKubeClient, type KubeClientOptions } from '../shared/kube/http-client.ts';

/**
 * Returns a client for what a test itself reads and writes. A busy machine may take longer for it than the product would
 * wait, above all where time passes faster; so may the embedded server, for half a million values.
 */
export function patientClient(connection: Connection, options: KubeClientOptions = {}) {
  return createKubeClient(connection, { timeoutMs: 60_000, connectTimeoutMs: 60_000, ...options });
}
