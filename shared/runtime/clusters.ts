import { ShootFluxError } from '../errors.ts';
import type { Connection } from '../kube/connection.ts';
import { createKubeClient, type HttpKubeClient, type KubeClientOptions } from '../kube/http-client.ts';
import { inCluster } from '../kube/in-cluster.ts';
import { kubeconfigFile } from '../kube/kubeconfig.ts';
import { type ClusterHealth, createClusterHealth } from './cluster-health.ts';
import { clusterName } from './cluster-name.ts';

/** Returns the connection to a cluster that this deployment serves: `garden` or a seed's name. */
export type ClusterCredentials = (cluster: string) => Promise<Connection>;

/** In place of a kubeconfig file: the cluster that this process runs in. */
export const IN_CLUSTER = 'in-cluster';

/** Returns the connection of a kubeconfig file, or of the pod's ServiceAccount. */
export function connectionOf(path: string): Promise<Connection> {
  return path === IN_CLUSTER ? inCluster() : kubeconfigFile(path);
}

/** Returns credentials from kubeconfig files, or `in-cluster`, by cluster name. */
export function kubeconfigFiles(files: Readonly<Record<string, string>>): ClusterCredentials {
  return async (cluster) => {
    const path = files[cluster];
    if (path !== undefined) return connectionOf(path);
    const known = Object.keys(files).join(', ') || 'none';
    throw new ShootFluxError(`Cluster ${cluster} has no kubeconfig; known clusters: ${known}`);
  };
}

/**
 * Returns clients by cluster name, one per cluster, created on first use. After a 401 the next call reads the
 * credentials again, so that a replaced kubeconfig needs no restart.
 * @param health shared by the clients of all identities of a process, so that they fail at once while a cluster is down
 */
export function createClusters(
  credentials: ClusterCredentials,
  options: KubeClientOptions = {},
  health: ClusterHealth = createClusterHealth(),
): (cluster: string) => Promise<HttpKubeClient> {
  const clients = new Map<string, Promise<HttpKubeClient>>();
  return (cluster) => {
    const known = clients.get(cluster);
    if (known !== undefined) return known;
    const forget = () => {
      if (clients.get(cluster) === client) clients.delete(cluster);
    };
    const client = credentials(cluster).then((connection) =>
      createKubeClient(connection, {
        name: clusterName(cluster),
        guard: health.guard(cluster),
        ...options,
        onRequest(info) {
          if (info.status === 401) forget();
          options.onRequest?.(info);
        },
      }),
    );
    clients.set(cluster, client);
    client.catch(forget);
    return client;
  };
}
