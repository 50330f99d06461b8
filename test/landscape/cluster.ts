import { type Connection, createKubeClient, type KubeClient, type KubeObject } from './client/client.ts';
import { type KubeApi, type KubeApiOptions, startKubeApi } from './kube-api/kube-api.ts';

/** An embedded API server with a client and a kubeconfig. */
export interface Cluster {
  api: KubeApi;
  connection: Connection;
  /** Acts as the administrator. */
  client: KubeClient;
  /** For kubectl, as YAML. */
  kubeconfig: string;
  stop(): Promise<void>;
}

/** @param objects exist from the start, for example CRDs */
export async function startCluster(
  objects: readonly KubeObject[] = [],
  options: Omit<KubeApiOptions, 'objects'> = {},
): Promise<Cluster> {
  const api = await startKubeApi({ ...options, objects: objects as unknown as NonNullable<KubeApiOptions['objects']> });
  const connection = { server: api.url, ca: api.ca, token: api.token };
  const client = createKubeClient(connection, { userAgent: 'landscape' });
  return {
    api,
    connection,
    client,
    kubeconfig: api.kubeconfig(),
    async stop() {
      client.close();
      await api.stop();
    },
  };
}
