import { setTimeout as sleep } from 'node:timers/promises';
import { startResourceManager } from '@shoot-flux/landscape/resource-manager';
import { startProduct } from '../../../infra/process/product.ts';
import type { Extension } from '../../../shared/gardener/types.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { createLog } from '../../../shared/runtime/log.ts';
import { bench, type Progress } from '../bench.ts';
import type { BenchClusters } from '../landscape/bench-clusters.ts';
import { startClusters } from '../landscape/clusters.ts';
import { playFlux } from '../landscape/flux.ts';
import { cluster, controlPlane, extension, fluxConfig, namespace, PROJECT_NAMESPACE } from '../landscape/objects.ts';
import { countRequests, type SeenRequest } from '../landscape/requests.ts';
import { settings } from '../landscape/run-function.ts';

const write = { fieldManager: 'bench' };

/** Time from applied to Ready: Flux pulls images, clones the repository and applies its content. */
const FLUX_SECONDS = 10;
const GIVE_UP_MS = 120_000;

/**
 * The whole product in this process with a seed and a shoot, the landscape's resource-manager between them, and a
 * simulated Flux in the shoot. Counts the requests of all functions to any API server, without the watcher's lists and
 * watches, until the first success is recorded.
 */
export const untilReadyBench = bench(
  'until ready',
  {
    requests: { what: 'API requests of all functions until a new Shoot is Ready', unit: 'requests', atMost: 60 },
  },
  async (progress) => {
    await using clusters = await startClusters({ shoot: true }, progress);
    const { seed, shoot } = clusters;
    if (shoot === undefined) throw new Error('There is no shoot.');
    const name = controlPlane(1);
    await prepare(clusters, name);
    const stopping = new AbortController();
    const manager = await startResourceManager({
      source: seed.connection,
      target: shoot.connection,
      namespace: name,
      targetNamespaces: ['kube-system', 'flux-system'],
    });
    const log = createLog('warn');
    const product = await startProduct({ credentials: () => async () => seed.connection, settings, log });
    const flux = playFlux(shoot.client, FLUX_SECONDS, stopping.signal);
    flux.catch(() => {});
    try {
      while (!product.watcher.ready()) await sleep(20);
      // The first lists trigger runs that do not belong to the new Shoot.
      await sleep(500);
      using counter = countRequests();
      await seed.client.create(resources.clusters, cluster(name), write);
      await sleep(500);
      await seed.client.create(resources.extensions, extension(name), write);
      await untilBootstrapped(clusters, name);
      const requests = untilRecorded(counter.requests.filter(({ by }) => by !== 'watcher'));
      show(requests, progress);
      return {
        requests: {
          value: requests.length,
          note: `${clusters.servedBy}; Flux is Ready ${FLUX_SECONDS} s after it is applied`,
        },
      };
    } finally {
      stopping.abort();
      await product.stop();
      await manager.stop();
    }
  },
);

async function prepare({ seed, shoot }: BenchClusters, name: string): Promise<void> {
  for (const each of [PROJECT_NAMESPACE, name]) await seed.client.create(resources.namespaces, namespace(each), write);
  await seed.client.create(resources.configMaps, fluxConfig('Once'), write);
  const kubeconfig = Buffer.from(shoot?.kubeconfig ?? '').toString('base64');
  const metadata = { name: 'gardener', namespace: name };
  await seed.client.create(
    resources.secrets,
    { apiVersion: 'v1', kind: 'Secret', metadata, data: { kubeconfig } },
    write,
  );
}

async function untilBootstrapped({ seed }: BenchClusters, name: string): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  for (;;) {
    const found = await seed.client.find<Extension>(resources.extensions, { namespace: name, name: 'shoot-flux' });
    if (found?.status?.state?.bootstrapped !== undefined) return;
    if (performance.now() > deadline) {
      const { lastError, providerStatus } = found?.status ?? {};
      const why = lastError?.description ?? providerStatus?.flux?.notReady?.join(' ') ?? 'no reason is reported';
      throw new Error(`The Shoot was not Ready after ${GIVE_UP_MS / 1000} s: ${why}`);
    }
    await sleep(100);
  }
}

/** Drops the requests after the record: the Shoot is Ready by then. */
function untilRecorded(requests: readonly SeenRequest[]): SeenRequest[] {
  const record = requests.findIndex(({ by, text }) => by === 'sync-mode' && text.startsWith('PATCH'));
  return requests.slice(0, record + 1);
}

function show(requests: readonly SeenRequest[], progress: Progress): void {
  const counts = Map.groupBy(requests, ({ by }) => by);
  progress([...counts].map(([by, { length }]) => `${by} ${length}`).join(', '));
}
