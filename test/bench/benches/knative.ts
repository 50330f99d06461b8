import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { bundleCli } from '../../../infra/bundle-cli.ts';
import { startCommand } from '../../command-process.ts';
import { bench } from '../bench.ts';
import { startEmbeddedClusters } from '../landscape/embedded-clusters.ts';
import { fluxDistribution } from '../landscape/flux-distribution.ts';
import { SEED } from '../landscape/objects.ts';
import { residentMb } from '../landscape/process-usage.ts';
import { median } from '../numbers.ts';

const STARTS = 9;

/** An instance of the largest function's Service, from the bundle with its compile cache, as in the image. */
export const knativeBench = bench(
  'knative',
  {
    ready: { what: 'Knative Service `managed-resources`: process start to ready', unit: 'ms', atMost: 300 },
    memory: { what: 'memory of that process, ready', unit: 'MB' },
  },
  async (progress) => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-cli-'));
    try {
      await bundleCli(folder);
      await promisify(execFile)(process.execPath, [join(folder, 'fill-compile-cache.cjs')]);
      await using clusters = await startEmbeddedClusters({}, [...gardenCrds(), ...seedCrds()]);
      const milliseconds: number[] = [];
      const megabytes: number[] = [];
      for (let start = 0; start < STARTS; start++) {
        const { ms, mb } = await startOnce(folder, clusters.seed.kubeconfigFile);
        milliseconds.push(ms);
        megabytes.push(mb);
      }
      progress(`${milliseconds.map((value) => value.toFixed(0)).join(' ')} ms`);
      return {
        ready: { value: median(milliseconds), note: `median of ${STARTS} processes` },
        memory: { value: median(megabytes), note: 'resident' },
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

async function startOnce(folder: string, kubeconfigFile: string): Promise<{ ms: number; mb: number }> {
  const started = performance.now();
  const { address, pid, stop } = await startCommand(
    [
      ...['serve', 'managed-resources', '--sink=http://127.0.0.1:1'],
      ...[`--garden=${kubeconfigFile}`, `--seed=${SEED}=${kubeconfigFile}`, `--flux-distribution=${fluxDistribution}`],
    ],
    { entry: join(folder, 'shoot-flux.mjs') },
  );
  const response = await fetch(`${address}/readyz`);
  const ms = performance.now() - started;
  if (!response.ok) throw new Error(`/readyz answered ${response.status}.`);
  const mb = residentMb(pid);
  await stop();
  return { ms, mb };
}
