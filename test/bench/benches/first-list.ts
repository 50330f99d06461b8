import { setTimeout as sleep } from 'node:timers/promises';
import { resources } from '../../../shared/kube/resource.ts';
import { bench, type Progress } from '../bench.ts';
import { startClusters } from '../landscape/clusters.ts';
import { requestReconciliations } from '../landscape/gardenlet.ts';
import { copyShoots, modelShoot } from '../landscape/model-shoot.ts';
import { controlPlane, fluxConfig, namespace, PROJECT_NAMESPACE } from '../landscape/objects.ts';
import { cpuSeconds, residentMb } from '../landscape/process-usage.ts';
import { type ProductProcess, startProductProcess } from '../landscape/product-process.ts';
import { percentile } from '../numbers.ts';

const write = { fieldManager: 'bench' };
const SHOOTS = 10_000;
const REQUESTS = 150;
const EVERY_MS = 200;
const AT_REST_SECONDS = 180;
const GIVE_UP_MS = 1_800_000;

/**
 * A process starts in a seed in which 10,000 Shoots have released Flux. While it lists them and their first runs are
 * due, gardenlet asks for reconciliations. Afterwards the process rests: what it costs is the hourly resync.
 */
export const firstListBench = bench(
  'first list',
  {
    requests: {
      what: "gardenlet's request while 10,000 Extensions are listed for the first time, p99",
      unit: 's',
      atMost: 2,
    },
    memory: { what: 'memory of `run` with 10,000 Shoots at rest', unit: 'MB', atMost: 200 },
    cpu: { what: 'CPU at rest, 10,000 Shoots, released', unit: '%', atMost: 5 },
    settled: { what: 'start of `run` until each of 10,000 Shoots had its first runs', unit: 's' },
  },
  async (progress) => {
    await using clusters = await startClusters({ shoot: true, anyNamespace: true, onlyReal: true }, progress);
    const { seed } = clusters;
    await seed.client.create(resources.namespaces, namespace(PROJECT_NAMESPACE), write);
    await seed.client.create(resources.configMaps, fluxConfig('Once'), write);
    const model = await modelShoot(clusters, progress);
    const names = Array.from({ length: SHOOTS }, (_, number) => controlPlane(1 + number));
    await copyShoots(seed, model, names, progress);
    const started = performance.now();
    await using product = await startProductProcess(seed.kubeconfigFile, { untilReady: false });
    const asked = names.filter((_, index) => index % Math.floor(SHOOTS / REQUESTS) === 0);
    const answers = await requestReconciliations(seed.client, asked, { everyMs: EVERY_MS, count: REQUESTS });
    progress(`${REQUESTS} requests answered`);
    await untilIdle(product, progress);
    const settled = (performance.now() - started) / 1000;
    const cpu = await cpuAtRest(product, AT_REST_SECONDS);
    return {
      requests: {
        value: percentile(answers, 99) / 1000,
        note: `median ${percentile(answers, 50).toFixed(0)} ms; ${clusters.servedBy}`,
      },
      memory: { value: residentMb(product.pid), note: 'resident, after the first runs' },
      cpu: { value: cpu, note: `over ${AT_REST_SECONDS} s` },
      settled: { value: settled },
    };
  },
);

/** Waits until no key of the process waits for a run or runs, three looks in a row. */
export async function untilIdle(product: ProductProcess, progress: Progress): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  for (let quiet = 0; quiet < 3; ) {
    if (performance.now() > deadline) throw new Error('The product is still busy.');
    await sleep(5000);
    const busy = await busyKeys(product);
    quiet = busy === 0 ? quiet + 1 : 0;
    if (quiet === 0) progress(`${busy} keys waiting or running, ${residentMb(product.pid).toFixed(0)} MB`);
  }
}

async function busyKeys({ address }: ProductProcess): Promise<number> {
  const metrics = await (await fetch(`${address}/metrics`)).text();
  const depths = metrics.matchAll(/^shoot_flux_queue_keys\{.*state="(?:waiting|running)"\} (\d+)$/gm);
  return [...depths].reduce((sum, [, keys]) => sum + Number(keys), 0);
}

/** Returns the part of a core that the process uses during some seconds, in percent. */
export async function cpuAtRest({ pid }: ProductProcess, seconds: number): Promise<number> {
  const before = cpuSeconds(pid);
  const started = performance.now();
  await sleep(seconds * 1000);
  return ((cpuSeconds(pid) - before) / ((performance.now() - started) / 1000)) * 100;
}
