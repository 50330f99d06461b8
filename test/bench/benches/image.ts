import { setTimeout as sleep } from 'node:timers/promises';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { answersOk } from '../../real/cluster/ready.ts';
import { type BuiltImage, builtImage } from '../../real/install/built-image.ts';
import { startContainer } from '../../real/install/container.ts';
import { bench } from '../bench.ts';
import { startEmbeddedClusters } from '../landscape/embedded-clusters.ts';
import { fluxDistribution } from '../landscape/flux-distribution.ts';
import { SEED } from '../landscape/objects.ts';
import { residentMb } from '../landscape/process-usage.ts';
import { median } from '../numbers.ts';
import { seenWatches, watchedSelections } from './start.ts';

const STARTS = 7;
const IDLE_SECONDS = 20;

/** The image as operators build it, on a read-only root as any user. Needs root, and some minutes for the build. */
export const imageBench = bench(
  'image',
  {
    size: { what: 'image, compressed, without distribution', unit: 'MB', atMost: 70 },
    watches: { what: 'start of `run` in the image until its watches are open', unit: 's', atMost: 0.6 },
    memory: { what: 'memory of `run` in the image, idle', unit: 'MB', atMost: 100 },
  },
  async (progress) => {
    await using image = await builtImage();
    await using clusters = await startEmbeddedClusters({}, [...gardenCrds(), ...seedCrds()]);
    const seconds: number[] = [];
    let megabytes = 0;
    for (let run = 0; run < STARTS; run++) {
      using watches = seenWatches();
      const started = performance.now();
      const { program, address } = await startRun(image, clusters.seed.kubeconfigFile);
      try {
        const expected = await watchedSelections(address);
        seconds.push(((await watches.until(expected)) - started) / 1000);
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
      watches: { value: median(seconds), note: `median of ${STARTS} containers, with chroot and mounts` },
      memory: { value: megabytes, note: `resident, after ${IDLE_SECONDS} s` },
    };
  },
);

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
  return { program, address };
}
