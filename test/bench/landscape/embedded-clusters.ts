import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, startCluster } from '@shoot-flux/landscape/cluster';
import { createKubeClient } from '../../../shared/kube/http-client.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { BenchCluster, BenchClusters, BenchClustersOptions } from './bench-clusters.ts';

/** With a fast clock on a busy machine, the default of 2 s is a few real milliseconds. */
const patient = { timeoutMs: 600_000, connectTimeoutMs: 600_000 };

/** The landscape's embedded API server, in this process. */
export async function startEmbeddedClusters(
  { shoot = false, otherSeed = false }: BenchClustersOptions,
  crds: KubeObject[],
): Promise<BenchClusters> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const seedCluster = await startCluster(crds);
  const otherCluster = otherSeed ? await startCluster(crds) : undefined;
  const shootCluster = shoot ? await startCluster() : undefined;
  const clusters = {
    seed: await benchCluster(seedCluster, join(folder, 'seed.yaml')),
    otherSeed: otherCluster && (await benchCluster(otherCluster, join(folder, 'other-seed.yaml'))),
    shoot: shootCluster && (await benchCluster(shootCluster, join(folder, 'shoot.yaml'))),
  };
  return {
    servedBy: 'embedded API',
    needsNamespaces: true,
    ...clusters,
    async [Symbol.asyncDispose]() {
      clusters.seed.client.close();
      clusters.otherSeed?.client.close();
      clusters.shoot?.client.close();
      await Promise.all([seedCluster.stop(), otherCluster?.stop(), shootCluster?.stop()]);
      await rm(folder, { recursive: true });
    },
  };
}

async function benchCluster({ api, connection, kubeconfig }: Cluster, file: string): Promise<BenchCluster> {
  const client = createKubeClient(connection, { userAgent: 'bench', ...patient });
  await writeFile(file, kubeconfig, { mode: 0o600 });
  return { connection, client, kubeconfig, kubeconfigFile: file, compact: () => api.compact() };
}
