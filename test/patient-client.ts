import type { Connection } from '../shared/kube/connection.ts';
import { createKubeClient, type KubeClientOptions } from '../shared/kube/http-client.ts';

/**
 * Returns a client with which a test itself reads and writes. On a busy machine a call may take longer than the product
 * would wait, above all where the test speeds up time; so may the embedded server with half a million values.
 */
export function patientClient(connection: Connection, options: KubeClientOptions = {}) {
  return createKubeClient(connection, { timeoutMs: 60_000, connectTimeoutMs: 60_000, ...options });
}
