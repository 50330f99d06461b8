import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { startCommand } from '../../command-process.ts';
import { bench } from '../bench.ts';
import { bundledProduct } from '../landscape/bundled-product.ts';
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
    const entry = await bundledProduct();
    await using clusters = await startEmbeddedClusters({}, [...gardenCrds(), ...seedCrds()]);
    const milliseconds: number[] = [];
    const megabytes: number[] = [];
    for (let start = 0; start < STARTS; start++) {
      const { ms, mb } = await startOnce(entry, clusters.seed.kubeconfigFile);
      milliseconds.push(ms);
      megabytes.push(mb);
    }
    progress(`${milliseconds.map((value) => value.toFixed(0)).join(' ')} ms`);
    return {
      ready: { value: median(milliseconds), note: `median of ${STARTS} processes` },
      memory: { value: median(megabytes), note: 'resident' },
    };
  },
);

async function startOnce(entry: string, kubeconfigFile: string): Promise<{ ms: number; mb: number }> {
  const started = performance.now();
  const { address, pid, stop } = await startCommand(
    [
      ...['serve', 'managed-resources', '--sink=http://127.0.0.1:1'],
      ...[`--garden=${kubeconfigFile}`, `--seed=${SEED}=${kubeconfigFile}`, `--flux-distribution=${fluxDistribution}`],
    ],
    { entry },
  );
  const response = await fetch(`${address}/readyz`);
  const ms = performance.now() - started;
  if (!response.ok) throw new Error(`/readyz answered ${response.status}.`);
  const mb = residentMb(pid);
  await stop();
  return { ms, mb };
}
