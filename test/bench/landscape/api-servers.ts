import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Connection } from '../../../shared/kube/connection.ts';
import { createKubeClient, type HttpKubeClient } from '../../../shared/kube/http-client.ts';
import { type ApiServer, startApiServer } from '../../real/cluster/api-server.ts';
import { gardenCrds, installCrds, seedCrds } from '../../real/cluster/crds.ts';
import { type Etcd, startEtcd } from '../../real/cluster/etcd.ts';

/** One cluster of a bench, for its administrator. */
export interface BenchCluster {
  connection: Connection;
  client: HttpKubeClient;
  /** A kubeconfig as YAML, and as a file that goes away with the cluster. */
  kubeconfig: string;
  kubeconfigFile: string;
}

/** The clusters of a bench. */
export interface BenchClusters extends AsyncDisposable {
  /** What serves them, for the notes of the table. */
  servedBy: string;
  /** Garden and seed in one: a second API server would only take from the two cores what is to be measured. */
  seed: BenchCluster;
  /** Only where it was asked for. */
  shoot?: BenchCluster | undefined;
}

/** What a bench can choose. */
export interface BenchClustersOptions {
  /** Whether there is a shoot. */
  shoot?: boolean;
  /** Objects keep the status with which they are created: half the requests for whoever fills a seed. */
  statusInOneWrite?: boolean;
  /** Objects may be in namespaces that are not there. */
  anyNamespace?: boolean;
}

/** Starts etcd and kube-apiservers with the CRDs of garden and seed. */
export async function startClusters(options: BenchClustersOptions = {}): Promise<BenchClusters> {
  const args = options.anyNamespace === true ? ['--disable-admission-plugins=NamespaceLifecycle'] : [];
  const etcd = await startEtcd();
  const servers: ApiServer[] = [];
  const stop = async () => {
    for (const server of servers) await server.stop();
    await etcd.stop();
  };
  try {
    const seed = await startCluster(etcd, 'seed', args, servers);
    await installSeedCrds(seed.server, options.statusInOneWrite === true);
    const shootCluster = options.shoot === true ? await startCluster(etcd, 'shoot', [], servers) : undefined;
    return {
      servedBy: 'kube-apiserver',
      seed: seed.cluster,
      shoot: shootCluster?.cluster,
      async [Symbol.asyncDispose]() {
        seed.cluster.client.close();
        shootCluster?.cluster.client.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function installSeedCrds(server: ApiServer, statusInOneWrite: boolean): Promise<void> {
  const files = seedCrds();
  if (files === undefined)
    throw new Error('The CRDs of Gardener are not beside the repository (../shared/data/gardener).');
  await installCrds(server, gardenCrds);
  if (!statusInOneWrite) return installCrds(server, files);
  const folder = await mkdtemp(join(tmpdir(), 'bench-crds-'));
  try {
    await installCrds(server, await Promise.all(files.map((file) => withoutSubresources(file, folder))));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @returns the path of the changed copy */
async function withoutSubresources(file: string, folder: string): Promise<string> {
  const crd = parse(await readFile(file, 'utf8'));
  for (const version of crd.spec.versions) delete version.subresources;
  const path = join(folder, basename(file));
  await writeFile(path, stringify(crd));
  return path;
}

async function startCluster(etcd: Etcd, prefix: string, args: string[], servers: ApiServer[]) {
  const server = await startApiServer({ etcd, prefix, args });
  servers.push(server);
  const connection = { server: server.url, ca: server.ca, token: server.adminToken };
  const client = createKubeClient(connection, { userAgent: 'bench', timeoutMs: 60_000 });
  const cluster: BenchCluster = {
    connection,
    client,
    kubeconfig: server.kubeconfig(),
    kubeconfigFile: await server.kubeconfigFile(),
  };
  return { server, cluster };
}
