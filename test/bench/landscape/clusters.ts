import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '@shoot-flux/landscape/client';
import { startCluster } from '@shoot-flux/landscape/cluster';
import { gardenCrds as embeddedGardenCrds, seedCrds as embeddedSeedCrds } from '@shoot-flux/landscape/crds';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { createKubeClient, type HttpKubeClient } from '../../../shared/kube/http-client.ts';
import { startApiServer } from '../../real/cluster/api-server.ts';
import { gardenCrds, installCrds, seedCrds } from '../../real/cluster/crds.ts';
import { startEtcd } from '../../real/cluster/etcd.ts';

/** One cluster of a bench, with its administrator's client. */
export interface BenchCluster {
  connection: Connection;
  client: HttpKubeClient;
  /** A kubeconfig as YAML, and as a file that is deleted with the cluster. */
  kubeconfig: string;
  kubeconfigFile: string;
}

/** Real API servers of a bench. */
export interface BenchClusters extends AsyncDisposable {
  /** Garden and seed in one, because a second API server would compete for the two cores. */
  seed: BenchCluster;
  /** A second seed. Only if the options ask for it. */
  otherSeed?: BenchCluster | undefined;
  /** Only if the options ask for it. */
  shoot?: BenchCluster | undefined;
}

interface BenchClustersOptions {
  shoot?: boolean;
  otherSeed?: boolean;
  /** Objects may be in missing namespaces. */
  anyNamespace?: boolean;
}

/** Starts real API servers over one etcd. */
export async function startClusters(options: BenchClustersOptions = {}): Promise<BenchClusters> {
  await using started = new AsyncDisposableStack();
  const etcd = started.use(await startEtcd());
  const anywhere = options.anyNamespace ? ['--disable-admission-plugins=NamespaceLifecycle'] : [];
  const start = async (name: string, crds: readonly string[]): Promise<BenchCluster> => {
    const args = name === 'shoot' ? [] : anywhere;
    const server = started.use(await startApiServer({ etcd, prefix: name, args }));
    await installCrds(server, crds);
    const connection = { server: server.url, ca: server.ca, token: server.adminToken };
    const client = createKubeClient(connection, { userAgent: 'bench', timeoutMs: 60_000 });
    started.defer(() => client.close());
    return { connection, client, kubeconfig: server.kubeconfig(), kubeconfigFile: await server.kubeconfigFile() };
  };
  const ofSeed = seedCrds();
  if (ofSeed === undefined) throw new Error(testDataMissing);
  const crds = [...gardenCrds, ...ofSeed];
  const seed = await start('seed', crds);
  const otherSeed = options.otherSeed ? await start('other-seed', crds) : undefined;
  const shoot = options.shoot ? await start('shoot', []) : undefined;
  const running = started.move();
  return { seed, otherSeed, shoot, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Starts the landscape's API server in this process, as garden and seed. */
export async function startEmbeddedSeed(): Promise<
  AsyncDisposable & Pick<BenchCluster, 'connection' | 'kubeconfigFile'>
> {
  const cluster = await startCluster([...embeddedGardenCrds(), ...embeddedSeedCrds()]);
  const file = await temporaryFile('seed.yaml', cluster.kubeconfig);
  return {
    ...{ connection: cluster.connection, kubeconfigFile: file.path },
    async [Symbol.asyncDispose]() {
      await cluster.stop();
      await file[Symbol.asyncDispose]();
    },
  };
}

/** Writes a file into a folder of its own, which is deleted with it. */
export async function temporaryFile(name: string, content: string): Promise<AsyncDisposable & { path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const path = join(folder, name);
  await writeFile(path, content, { mode: 0o600 });
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
