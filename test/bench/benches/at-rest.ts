import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandProcess } from '../../command-process.ts';
import { answersOk } from '../../real/cluster/start.ts';
import { type BuiltImage, builtImage } from '../../real/install/built-image.ts';
import { startContainer } from '../../real/install/container.ts';
import { bench, type Progress } from '../bench.ts';
import { startClusters, startEmbeddedSeed } from '../landscape/clusters.ts';
import { fluxDistribution } from '../landscape/flux-distribution.ts';
import { fillSeed } from '../landscape/model-shoot.ts';
import { controlPlane, SEED } from '../landscape/objects.ts';
import { cpuSeconds, residentMb, startProductProcess } from '../landscape/product-process.ts';
import { median } from '../numbers.ts';

const STARTS = 7;
const IDLE_SECONDS = 20;
const SHOOTS = 10_000;
const AT_REST_SECONDS = 180;
const GIVE_UP_MS = 1_800_000;

/** What a process costs while nothing changes: in the image without Shoots, and with 10,000 of them. */
export const atRestBench = bench(
  'at rest',
  {
    size: { what: 'image, compressed, without distribution', unit: 'MB', atMost: 70 },
    start: { what: 'start of `run` in the image until it is ready', unit: 's', atMost: 0.6 },
    idle: { what: 'memory of `run` in the image, idle', unit: 'MB', atMost: 110 },
    memory: { what: 'memory of `run` with 10,000 Shoots at rest', unit: 'MB', atMost: 230 },
    cpu: { what: 'CPU at rest, 10,000 Shoots, released', unit: '%', atMost: 6 },
  },
  async (progress) => ({
    ...(await inTheImage(progress)),
    ...(await withReleasedShoots(progress)),
  }),
);

/** After the first runs of 10,000 Shoots that have released Flux, a process rests: what it costs is the hourly resync. */
async function withReleasedShoots(progress: Progress) {
  await using clusters = await startClusters({ shoot: true, anyNamespace: true });
  const { seed } = clusters;
  const names = Array.from({ length: SHOOTS }, (_, number) => controlPlane(1 + number));
  await fillSeed(clusters, 'Once', names, progress);
  await using product = await startProductProcess(seed.kubeconfigFile, { untilReady: false });
  await untilIdle(product, progress);
  const cpu = await cpuAtRest(product, AT_REST_SECONDS);
  return {
    memory: { value: residentMb(product.pid), note: 'resident, after the first runs' },
    cpu: { value: cpu, note: `over ${AT_REST_SECONDS} s` },
  };
}

/** Waits until no key of the process waits for a run or runs, three looks in a row. */
export async function untilIdle(product: CommandProcess, progress: Progress): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  for (let quiet = 0; quiet < 3; ) {
    if (performance.now() > deadline) throw new Error('The product is still busy.');
    await sleep(5000);
    const busy = await busyKeys(product);
    quiet = busy === 0 ? quiet + 1 : 0;
    if (quiet === 0) progress(`${busy} keys waiting or running, ${residentMb(product.pid).toFixed(0)} MB`);
  }
}

async function busyKeys({ page }: CommandProcess): Promise<number> {
  const { text: metrics } = await page('/metrics');
  const depths = metrics.matchAll(/^shoot_flux_queue_keys\{.*state="(?:waiting|running)"\} (\d+)$/gm);
  return [...depths].reduce((sum, [, keys]) => sum + Number(keys), 0);
}

/** Returns the part of a core that the process uses during some seconds, in percent. */
export async function cpuAtRest({ pid }: CommandProcess, seconds: number): Promise<number> {
  const before = cpuSeconds(pid);
  const started = performance.now();
  await sleep(seconds * 1000);
  return ((cpuSeconds(pid) - before) / ((performance.now() - started) / 1000)) * 100;
}

/** The image as operators build it, on a read-only root as any user. Needs root, and some minutes for the build. */
async function inTheImage(progress: Progress) {
  await using image = await builtImage();
  await using seed = await startEmbeddedSeed();
  const seconds: number[] = [];
  let megabytes = 0;
  for (let run = 0; run < STARTS; run++) {
    const started = performance.now();
    const program = await startRun(image, seed.kubeconfigFile);
    try {
      seconds.push((performance.now() - started) / 1000);
      if (run < STARTS - 1) continue;
      await sleep(IDLE_SECONDS * 1000);
      megabytes = residentMb(program.pid);
    } finally {
      await program.stop();
    }
  }
  progress(`${seconds.map((value) => value.toFixed(2)).join(' ')} s`);
  return {
    size: { value: image.bytes / 1e6, note: 'layers and configuration in a registry' },
    start: { value: median(seconds), note: `median of ${STARTS} containers, with chroot and mounts` },
    idle: { value: megabytes, note: `resident, after ${IDLE_SECONDS} s` },
  };
}

/** Starts `run` in a container, and waits until it is ready. */
async function startRun(image: BuiltImage, kubeconfig: string) {
  const clusters = ['--garden', '/mnt/kubeconfig', '--seed', `${SEED}=/mnt/kubeconfig`];
  const options = ['--flux-distribution', '/mnt/distribution', '--port', '0', '--log-level', 'warn'];
  const mounts = { '/mnt/kubeconfig': kubeconfig, '/mnt/distribution': fluxDistribution };
  const program = await startContainer({ ...image, args: ['run', ...clusters, ...options], mounts });
  let port: string | undefined;
  while (port === undefined) {
    if (program.ended) throw new Error(`run ended in the image: ${await program.output()}`);
    [, port] = /metrics on port (\d+)/.exec(await program.output()) ?? [];
    await sleep(5);
  }
  const address = `http://127.0.0.1:${port}`;
  while (!(await answersOk(`${address}/readyz`))) await sleep(5);
  return program;
}
