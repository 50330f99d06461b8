import { setTimeout as sleep } from 'node:timers/promises';
import { resources } from '../../../shared/kube/resource.ts';
import { bench, type Progress } from '../bench.ts';
import { startClusters } from '../landscape/clusters.ts';
import { type Arrivals, PER_SHOOT, watchArrivals } from '../landscape/managed-resources.ts';
import { cluster, controlPlane, createProject, extension, namespace } from '../landscape/objects.ts';
import { startProductProcess } from '../landscape/product-process.ts';
import { inParallel } from '../numbers.ts';

const EXTENSIONS = 1000;
const GIVE_UP_MS = 300_000;

/**
 * A seed in which all Shoots get the extension at once, with `shoot-flux run`, etcd and kube-apiserver on the same
 * cores. Measures from the first Extension that is created to the last ManagedResource that is seen.
 */
export const manyBench = bench(
  'many',
  {
    all: { what: '1,000 new Extensions until all ManagedResources are written', unit: 's', atMost: 45 },
  },
  async (progress) => {
    await using clusters = await startClusters();
    const { client } = clusters.seed;
    const write = { fieldManager: 'bench' };
    await createProject(client, 'Once');
    const names = Array.from({ length: EXTENSIONS }, (_, number) => controlPlane(number));
    await inParallel(names, 16, async (name) => {
      await client.create(resources.namespaces, namespace(name), write);
      await client.create(resources.clusters, cluster(name), write);
    });
    progress(`${EXTENSIONS} control planes created`);
    await using _product = await startProductProcess(clusters.seed.kubeconfigFile);
    const arrivals = await watchArrivals(client);

    const started = performance.now();
    const done = withProgress(arrivals, progress);
    await inParallel(names, 16, (name) => client.create(resources.extensions, extension(name), write));
    const written = performance.now();
    progress(`${EXTENSIONS} Extensions created in ${((written - started) / 1000).toFixed(1)} s`);
    const ended = await done;
    arrivals.stop();
    return {
      all: {
        value: (ended - started) / 1000,
        note: `creating the Extensions took ${((written - started) / 1000).toFixed(1)} s of it`,
      },
    };
  },
);

async function withProgress(arrivals: Arrivals, progress: Progress): Promise<number> {
  const giveUp = sleep(GIVE_UP_MS, undefined, { ref: false }).then(() => {
    throw new Error(`After ${GIVE_UP_MS / 1000} s there were ${arrivals.seen()} ManagedResources.`);
  });
  giveUp.catch(() => {});
  const timer = setInterval(() => progress(`${arrivals.seen()} ManagedResources`), 5000);
  try {
    return await Promise.race([arrivals.until(EXTENSIONS * PER_SHOOT), giveUp]);
  } finally {
    clearInterval(timer);
  }
}
