import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { bench } from '../bench.ts';
import type { BenchCluster } from '../landscape/bench-clusters.ts';
import { startClusters } from '../landscape/clusters.ts';
import { requestReconciliations } from '../landscape/gardenlet.ts';
import { copyShoots, type ModelShoot, modelShoot } from '../landscape/model-shoot.ts';
import { controlPlane, fluxConfig, namespace, PROJECT_NAMESPACE } from '../landscape/objects.ts';
import { startProductProcess } from '../landscape/product-process.ts';
import { failedStatus } from '../landscape/resource-manager.ts';
import { percentile } from '../numbers.ts';

const write = { fieldManager: 'bench' };
const HEALTHY = 20;
const FAILING = 5000;
const REQUESTS = 150;
const EVERY_MS = 400;

/**
 * Two projects on one seed. In the one nothing works: the resource-managers report that they cannot apply, and the
 * shoots' API servers accept connections and never answer. Gardenlet asks for reconciliations in the other project from
 * the moment the product has seen them all, which is when all of them are due.
 */
export const failingProjectBench = bench(
  'failing project',
  {
    requests: { what: 'change of one project while another has 5,000 failing Shoots, p99', unit: 's', atMost: 1 },
  },
  async (progress) => {
    await using clusters = await startClusters({ shoot: true, anyNamespace: true, onlyReal: true }, progress);
    const { seed } = clusters;
    await seed.client.create(resources.namespaces, namespace(PROJECT_NAMESPACE), write);
    await seed.client.create(resources.configMaps, fluxConfig('Reconcile'), write);
    const model = await modelShoot(clusters, progress);
    const healthy = Array.from({ length: HEALTHY }, (_, number) => controlPlane(1 + number));
    const failing = Array.from({ length: FAILING }, (_, number) =>
      controlPlane(number).replace('--bench--', '--bad--'),
    );
    await copyShoots(seed, model, healthy, progress);
    await using silent = await silentServer();
    await copyShoots(seed, failingModel(model, seed, silent.port), failing, progress);
    await using _product = await startProductProcess(seed.kubeconfigFile);
    progress('the product has seen all Shoots');
    const answers = await requestReconciliations(seed.client, healthy, { everyMs: EVERY_MS, count: REQUESTS });
    return {
      requests: {
        value: percentile(answers, 99) / 1000,
        note: `median ${percentile(answers, 50).toFixed(0)} ms; ${clusters.servedBy}`,
      },
    };
  },
);

/** The same Shoot, with a ManagedResource that cannot be applied, and with a shoot that never answers. */
function failingModel({ objects }: ModelShoot, { connection, kubeconfig }: BenchCluster, port: number): ModelShoot {
  const silent = kubeconfig.replaceAll(`:${new URL(connection.server).port}`, `:${port}`);
  const failing = (object: KubeObject): KubeObject => {
    const { name } = object.metadata;
    if (name === 'gardener') return { ...object, data: { kubeconfig: Buffer.from(silent).toString('base64') } };
    if (name !== managedResourceNames.sync) return object;
    return { ...object, status: failedStatus((object as ManagedResource).metadata.generation) };
  };
  return { objects: objects.map(({ resource, object }) => ({ resource, object: failing(object) })) };
}

/** A server that accepts connections and never answers. */
async function silentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
