import { type Connection, createKubeClient, type KubeObject } from './client/client.ts';
import { type KubeApiOptions, startKubeApi } from './kube-api/kube-api.ts';

/** An embedded API server with a client and a kubeconfig. */
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** @param objects exist from the start, for example CRDs */
export async function startCluster(objects: readonly KubeObject[] = [], options: Omit<KubeApiOptions, 'objects'> = {}) {
  const api = await startKubeApi({ ...options, objects: objects as unknown as NonNullable<KubeApiOptions['objects']> });
  const connection: Connection = { server: api.url, ca: api.ca, token: api.token };
  const client = createKubeClient(connection, { userAgent: 'landscape' });
  return {
    api,
    connection,
    /** Acts as the administrator. */
    client,
    /** For kubectl, as YAML. */
    kubeconfig: api.kubeconfig(),
    async stop() {
      client.close();
      await api.stop();
    },
  };
}
