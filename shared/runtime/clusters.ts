import { ShootFluxError } from '../errors.ts';
import { type Connection, inCluster, isSameConnection } from '../kube/connection.ts';
import { KubeError } from '../kube/errors.ts';
import { createKubeClient, type HttpKubeClient, type KubeClientOptions } from '../kube/http-client.ts';
import { kubeconfigFile } from '../kube/kubeconfig.ts';
import { type ClusterHealth, createClusterHealth } from './cluster-health.ts';
import { clusterName } from './key.ts';

/** Returns the connection to a cluster that this deployment serves: `garden` or a seed's name. */
export type ClusterCredentials = (cluster: string) => Promise<Connection>;

/** In place of a kubeconfig file: the cluster that this process runs in. */
export const IN_CLUSTER = 'in-cluster';

/** Credentials are read again at most so often: at first, and after having been read in vain again and again. */
const REREAD_MS = [2000, 30_000] as const;

/** Returns the connection of a kubeconfig file, with or without asking its plugin, or of the pod's ServiceAccount. */
export function connectionOf(path: string, asksPlugin = true): Promise<Connection> {
  return path === IN_CLUSTER ? inCluster() : kubeconfigFile(path, asksPlugin);
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

/** A client with the connection that it was created for. */
interface Open {
  connection: Connection;
  client: HttpKubeClient;
}

interface Entry {
  open: Promise<Open>;
  /** A call was refused, or not answered: the connection may be out of date. */
  isDoubtful: boolean;
  /** When the credentials may be read again. */
  rereadAt: number;
  /** How long until the next time. */
  pauseMs: number;
}

/**
 * Returns clients by cluster name, one per cluster, created on first use. After a 401, and after a call or a probe that found
 * no connection or no answer, the next one reads the credentials again, so that a new token, certificate authority or
 * address needs no restart.
 * @param health shared by the clients of all identities of a process, so that they fail at once while a cluster is down
 */
export function createClusters(
  credentials: ClusterCredentials,
  options: KubeClientOptions = {},
  health: ClusterHealth = createClusterHealth(),
): (cluster: string) => Promise<HttpKubeClient> {
  const entries = new Map<string, Entry>();
  const doubt = (cluster: string) => {
    const entry = entries.get(cluster);
    if (entry !== undefined) entry.isDoubtful = true;
  };
  const create = (cluster: string, connection: Connection): Open => {
    const client = createKubeClient(connection, {
      name: clusterName(cluster),
      guard: health.guard(cluster),
      ...options,
      onRequest(info) {
        if (info.status === 401) doubt(cluster);
        options.onRequest?.(info);
      },
      onUnreachable(error) {
        if (!(error instanceof KubeError && error.reason === 'Aborted')) doubt(cluster);
        options.onUnreachable?.(error);
      },
    });
    return { connection, client };
  };
  health.onChange((cluster, isUp) => {
    const entry = entries.get(cluster);
    if (entry === undefined) return;
    // Other identities may have found out what this one has not tried.
    entry.isDoubtful = true;
    if (isUp) entry.pauseMs = REREAD_MS[0];
    void entry.open.then(
      ({ client }) => client.dropIdle(),
      () => {},
    );
  });

  return async (cluster) => {
    const entry = entries.get(cluster) ?? first(cluster);
    if (entry.isDoubtful && performance.now() >= entry.rereadAt) entry.open = reread(cluster, entry);
    return (await entry.open).client;
  };

  function first(cluster: string): Entry {
    const open = credentials(cluster).then((connection) => create(cluster, connection));
    const entry: Entry = { open, isDoubtful: false, rereadAt: 0, pauseMs: REREAD_MS[0] };
    entries.set(cluster, entry);
    // Not at the next call: for a plugin of a kubeconfig, each attempt is a process.
    open.catch(() => setTimeout(() => entries.delete(cluster), REREAD_MS[0]).unref());
    return entry;
  }

  /** Keeps the client, with its connections, unless the credentials have changed. */
  async function reread(cluster: string, entry: Entry): Promise<Open> {
    entry.isDoubtful = false;
    entry.rereadAt = performance.now() + entry.pauseMs;
    entry.pauseMs = Math.min(entry.pauseMs * 2, REREAD_MS[1]);
    const old = await entry.open;
    try {
      const connection = await credentials(cluster);
      if (isSameConnection(connection, old.connection)) return old;
      entry.pauseMs = REREAD_MS[0];
      // Its calls and watches end as they would have; idle connections would only serve the old address.
      const open = create(cluster, connection);
      old.client.dropIdle();
      return open;
    } catch {
      // For example in the middle of a rotation: the old credentials may still be good.
      entry.isDoubtful = true;
      return old;
    }
  }
}
