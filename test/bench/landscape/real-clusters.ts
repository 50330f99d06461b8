import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createKubeClient } from '../../../shared/kube/http-client.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { type ApiServer, startApiServer } from '../../real/cluster/api-server.ts';
import { installCrds } from '../../real/cluster/crds.ts';
import { startEtcd } from '../../real/cluster/etcd.ts';
import type { BenchCluster, BenchClusters, BenchClustersOptions } from './bench-clusters.ts';

/** kube-apiservers that share an etcd, each in a process of its own. */
export async function startRealClusters(
  { shoot = false, otherSeed = false, anyNamespace = false }: BenchClustersOptions,
  crds: KubeObject[],
): Promise<BenchClusters> {
  const args = anyNamespace ? ['--disable-admission-plugins=NamespaceLifecycle'] : [];
  await using started = new AsyncDisposableStack();
  const etcd = started.use(await startEtcd());
  const seed = started.use(await startApiServer({ etcd, prefix: 'seed', args }));
  await install(seed, crds);
  const otherServer = otherSeed ? started.use(await startApiServer({ etcd, prefix: 'other-seed', args })) : undefined;
  if (otherServer !== undefined) await install(otherServer, crds);
  const shootServer = shoot ? started.use(await startApiServer({ etcd, prefix: 'shoot' })) : undefined;
  const clusters = {
    servedBy: 'kube-apiserver',
    needsNamespaces: !anyNamespace,
    seed: await benchCluster(seed),
    otherSeed: otherServer && (await benchCluster(otherServer)),
    shoot: shootServer && (await benchCluster(shootServer)),
  };
  const running = started.move();
  return {
    ...clusters,
    async [Symbol.asyncDispose]() {
      clusters.seed.client.close();
      clusters.otherSeed?.client.close();
      clusters.shoot?.client.close();
      await running.disposeAsync();
    },
  };
}

async function install(server: ApiServer, crds: KubeObject[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-crds-'));
  try {
    const file = join(folder, 'crds.yaml');
    await writeFile(file, crds.map((crd) => `---\n${stringify(crd)}`).join(''));
    await installCrds(server, [file]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function benchCluster(server: ApiServer): Promise<BenchCluster> {
  const connection = { server: server.url, ca: server.ca, token: server.adminToken };
  return {
    connection,
    client: createKubeClient(connection, { userAgent: 'bench', timeoutMs: 60_000 }),
    kubeconfig: server.kubeconfig(),
    kubeconfigFile: await server.kubeconfigFile(),
  };
}
