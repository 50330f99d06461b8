import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { bench, type Progress } from '../bench.ts';
import type { BenchClusters } from '../landscape/bench-clusters.ts';
import { startClusters } from '../landscape/clusters.ts';
import { watchArrivals } from '../landscape/managed-resources.ts';
import { cluster, controlPlane, extension, fluxConfig, namespace, PROJECT_NAMESPACE } from '../landscape/objects.ts';
import { startProductProcess } from '../landscape/product-process.ts';
import { median } from '../numbers.ts';

const write = { fieldManager: 'bench' };

/** The warm-up runs are discarded. */
const WARM_UP = 5;
const WARM_RUNS = 20;
const COLD_RUNS = 7;

/**
 * One Extension at a time, from the request that creates it until all of its ManagedResources have been seen. Watcher,
 * embedded queue and functions run in one process (`shoot-flux run`), the API server in another.
 *
 * Warm: the process has done the same for other Shoots before. Cold: it is the first Extension of a new process, which
 * is ready (watches are open, lists were empty) but has never run this function: its code is not compiled, no release
 * is read, nothing is rendered or compressed. The start of the process does not count; the import of the function's
 * bundle on Lambda has its own row.
 */
export const latencyBench = bench(
  'latency',
  {
    warm: { what: 'change written until ManagedResources are written, warm', unit: 'ms', atMost: 150 },
    cold: { what: 'change written until ManagedResources are written, cold', unit: 'ms', atMost: 300 },
    start: { what: '`shoot-flux run` until it is ready, in an empty landscape', unit: 'ms' },
  },
  async (progress) => {
    await using clusters = await startClusters({}, progress);
    const { client } = clusters.seed;
    await client.create(resources.namespaces, namespace(PROJECT_NAMESPACE), write);
    await client.create(resources.configMaps, fluxConfig('Once'), write);

    const cold: number[] = [];
    const starts: number[] = [];
    for (let run = 0; run < COLD_RUNS; run++) {
      const { readyAfterMs, milliseconds } = await inNewProcess(clusters, [run]);
      starts.push(readyAfterMs);
      cold.push(...milliseconds);
    }
    show('cold', cold, progress);
    const all = Array.from({ length: WARM_UP + WARM_RUNS }, (_, number) => COLD_RUNS + number);
    const warm = (await inNewProcess(clusters, all)).milliseconds.slice(WARM_UP);
    show('warm', warm, progress);
    return {
      warm: { value: median(warm), note: `median of ${warm.length}; ${clusters.servedBy}` },
      cold: { value: median(cold), note: `median of ${cold.length} processes` },
      start: { value: median(starts), note: `median of ${starts.length} processes` },
    };
  },
);

/** Starts the product and creates one Extension after the other. */
async function inNewProcess(
  clusters: BenchClusters,
  numbers: readonly number[],
): Promise<{ readyAfterMs: number; milliseconds: number[] }> {
  const { client, kubeconfigFile } = clusters.seed;
  await using product = await startProductProcess(kubeconfigFile);
  const milliseconds: number[] = [];
  for (const number of numbers) milliseconds.push(await oneExtension(client, controlPlane(number)));
  await removeAll(client);
  return { readyAfterMs: product.readyAfterMs, milliseconds };
}

async function oneExtension(client: KubeClient, name: string): Promise<number> {
  await client.create(resources.namespaces, namespace(name), write);
  const arrivals = await watchArrivals(client);
  await client.create(resources.clusters, cluster(name), write);
  await quiet();
  const started = performance.now();
  await client.create(resources.extensions, extension(name), write);
  const ended = await arrivals.of(name);
  arrivals.stop();
  await quiet();
  return ended - started;
}

/** Waits until everything that the last change has triggered is over. */
function quiet(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 200));
}

/** Removes all objects, so that the next process starts in an empty landscape. */
async function removeAll(client: KubeClient): Promise<void> {
  for (const resource of [resources.clusters, resources.extensions, resources.managedResources]) {
    for (const { metadata } of (await client.list(resource)).items) {
      if (metadata.finalizers !== undefined) {
        await client.mergePatch(resource, metadata, { metadata: { finalizers: null } }, write);
      }
      await client.delete(resource, metadata);
    }
  }
}

function show(what: string, values: readonly number[], progress: Progress): void {
  progress(`${what}: ${values.map((value) => value.toFixed(0)).join(' ')} ms`);
}
