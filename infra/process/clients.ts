import type { HttpKubeClient, RequestInfo } from '../../shared/kube/http-client.ts';
import type { ClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { type ClusterCredentials, createClusters } from '../../shared/runtime/clusters.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';

export interface ClientOptions {
  credentials(identity: string): ClusterCredentials;
  metrics: Metrics;
  /** Shared by the clients of all identities in a thread. */
  health: ClusterHealth;
  /** Called for every request to an API server. */
  onRequest?: ((identity: string, cluster: string, info: RequestInfo) => void) | undefined;
}

/** Returns the clients of one identity, bound to one run when a signal is passed. Counts requests by cluster. */
export function clientsOf(identity: string, { credentials, metrics, health, onRequest }: ClientOptions) {
  const clusters = createClusters(credentials(identity), { userAgent: `shoot-flux/${identity}` }, health);
  return async (cluster: string, signal?: AbortSignal): Promise<HttpKubeClient> => {
    const client = await clusters(cluster);
    return client.with({
      ...(signal === undefined ? {} : { signal }),
      onRequest(info) {
        const labels = { function: identity, cluster, method: info.method, status: String(info.status) };
        metrics.count('requests_total', labels);
        onRequest?.(identity, cluster, info);
      },
    });
  };
}
