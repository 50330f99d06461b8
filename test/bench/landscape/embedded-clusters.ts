import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, startCluster } from '@shoot-flux/landscape/cluster';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { BenchCluster, BenchClusters, BenchClustersOptions } from './bench-clusters.ts';

/** The landscape's embedded API server, in this process. */
export async function startEmbeddedClusters(
  { shoot = false }: BenchClustersOptions,
  crds: KubeObject[],
): Promise<BenchClusters> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const seed = await startCluster(crds);
  const shootCluster = shoot ? await startCluster() : undefined;
  return {
    servedBy: 'embedded API',
    needsNamespaces: true,
    seed: await benchCluster(seed, join(folder, 'seed.yaml')),
    shoot: shootCluster && (await benchCluster(shootCluster, join(folder, 'shoot.yaml'))),
    async [Symbol.asyncDispose]() {
      await Promise.all([seed.stop(), shootCluster?.stop()]);
      await rm(folder, { recursive: true });
    },
  };
}

async function benchCluster({ connection, client, kubeconfig }: Cluster, file: string): Promise<BenchCluster> {
  await writeFile(file, kubeconfig, { mode: 0o600 });
  return { connection, client, kubeconfig, kubeconfigFile: file };
}
