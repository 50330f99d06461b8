import { ShootFluxError } from '../errors.ts';
import type { Connection } from '../kube/connection.ts';
import { createKubeClient, type HttpKubeClient, type KubeClientOptions } from '../kube/http-client.ts';
import { inCluster } from '../kube/in-cluster.ts';
import { kubeconfigFile } from '../kube/kubeconfig.ts';
import { GARDEN } from './key.ts';

/** How the clusters that this deployment serves are reached: `garden` or a seed's name to a connection. */
export type ClusterCredentials = (cluster: string) => Promise<Connection>;

/** Stands for the cluster that this process runs in, where a kubeconfig file is asked for. */
export const IN_CLUSTER = 'in-cluster';

/** The connection that a kubeconfig file describes, or that every pod has. */
export function connectionOf(path: string): Promise<Connection> {
  return path === IN_CLUSTER ? inCluster() : kubeconfigFile(path);
}

/** Kubeconfig files, or `in-cluster`, by cluster name. */
export function kubeconfigFiles(files: Readonly<Record<string, string>>): ClusterCredentials {
  return async (cluster) => {
    const path = files[cluster];
    if (path !== undefined) return connectionOf(path);
    const known = Object.keys(files).join(', ') || 'none';
    throw new ShootFluxError(`Cluster ${cluster} has no kubeconfig here; known are: ${known}`);
  };
}

/**
 * Clients by cluster name: one per cluster, made on first use. When an API server refuses the credentials (401), the
 * next call reads them anew, so that a replaced kubeconfig needs no restart.
 */
export function createClusters(
  credentials: ClusterCredentials,
  options: KubeClientOptions = {},
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
        name: cluster === GARDEN ? 'the garden' : `seed ${cluster}`,
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
