import { type Connection, createKubeClient, type KubeObject, resources } from '../client/client.ts';
import { startInformer } from '../controllers/informer.ts';
import { type Controller, createWorkQueue, nameOf, objectText, seconds } from '../controllers/work-queue.ts';

interface Deployment extends KubeObject {
  spec: { replicas?: number };
}

export interface NodesOptions {
  /** Programs by the name of their Deployment: they run while it exists and has replicas. */
  programs: Record<string, (connection: Connection) => Promise<Controller>>;
}

/**
 * Stands in for nodes, kubelet and the deployment controller: a Deployment becomes available, and its program runs until
 * it is deleted. There are no Pods.
 */
export async function startNodes(connection: Connection, options: NodesOptions): Promise<Controller> {
  const stopping = new AbortController();
  const client = createKubeClient(connection, { userAgent: 'nodes', timeoutMs: 30_000 });
  const running = new Map<string, Controller>();

  const queue = createWorkQueue({
    async reconcile(key) {
      const name = nameOf(key);
      const deployment = await client.find<Deployment>(resources.deployments, name);
      const alive = deployment !== undefined && deployment.metadata.deletionTimestamp === undefined;
      const replicas = alive ? (deployment.spec.replicas ?? 1) : 0;
      await runProgram(key, name.name, replicas > 0);
      if (alive) await writeStatus(deployment, replicas);
      return undefined;
    },
  });

  const runProgram = async (key: string, name: string, wanted: boolean) => {
    const program = running.get(key);
    if (wanted && program === undefined) {
      const start = options.programs[name];
      if (start !== undefined) running.set(key, await start(connection));
    } else if (!wanted && program !== undefined) {
      running.delete(key);
      await program.stop();
    }
  };

  const writeStatus = async ({ metadata, status }: Deployment, replicas: number) => {
    const { generation = 0 } = metadata;
    if ((status as { observedGeneration?: number } | undefined)?.observedGeneration === generation) return;
    const time = seconds(Date.now());
    const condition = (type: string, reason: string, message: string) => ({
      type,
      status: 'True',
      reason,
      message,
      lastTransitionTime: time,
      lastUpdateTime: time,
    });
    const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
    const conditions = [
      condition('Available', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'),
      condition('Progressing', 'NewReplicaSetAvailable', 'ReplicaSet has successfully progressed.'),
    ];
    const patch = { status: { observedGeneration: generation, ...counts, conditions } };
    const write = { fieldManager: 'kube-controller-manager', subresource: 'status' as const };
    await client.mergePatch(resources.deployments, metadata, patch, write);
  };

  const add = ({ metadata }: KubeObject) => queue.add(objectText(metadata));
  const informer = startInformer(
    client,
    resources.deployments,
    { signal: stopping.signal },
    { onChange: add, onDelete: add },
  );
  await informer.synced;
  return {
    async stop() {
      stopping.abort();
      await queue.stop();
      await Promise.all([...running.values()].map((program) => program.stop()));
      await informer.stopped;
      client.close();
    },
  };
}
