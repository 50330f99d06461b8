import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { bundleCli } from '../../../infra/bundle-cli.ts';
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
  const args = [
    ...[join(folder, 'shoot-flux.mjs'), 'serve', 'managed-resources', '--port=0', '--sink=http://127.0.0.1:1'],
    ...[`--garden=${kubeconfigFile}`, `--seed=${SEED}=${kubeconfigFile}`, `--flux-distribution=${fluxDistribution}`],
  ];
  const started = performance.now();
  const env = { ...process.env, MALLOC_ARENA_MAX: '1' };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  const port = Promise.withResolvers<string>();
  createInterface({ input: child.stderr }).on('line', (line) => {
    const [, found] = /metrics on port (\d+)/.exec(line) ?? [];
    if (found !== undefined) port.resolve(found);
  });
  child.once('exit', (code) => port.reject(new Error(`The process ended with ${code} while it started.`)));
  const response = await fetch(`http://127.0.0.1:${await port.promise}/readyz`);
  const ms = performance.now() - started;
  if (!response.ok) throw new Error(`/readyz answered ${response.status}.`);
  const mb = residentMb(child.pid ?? 0);
  child.kill('SIGTERM');
  await once(child, 'exit');
  return { ms, mb };
}
