import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '@shoot-flux/landscape/client';
import { startCluster } from '@shoot-flux/landscape/cluster';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { stringify } from 'yaml';
import { createKubeClient, type HttpKubeClient } from '../../../shared/kube/http-client.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { startApiServer } from '../../real/cluster/api-server.ts';
import { installCrds } from '../../real/cluster/crds.ts';
import { startEtcd } from '../../real/cluster/etcd.ts';
import { buildTools } from '../../real/tools/build.ts';
import type { Progress } from '../bench.ts';

/** One cluster of a bench, with its administrator's client. */
export interface BenchCluster {
  connection: Connection;
  client: HttpKubeClient;
  /** A kubeconfig as YAML, and as a file that is deleted with the cluster. */
  kubeconfig: string;
  kubeconfigFile: string;
}

/** The clusters of a bench. */
export interface BenchClusters extends AsyncDisposable {
  /** Names the kind of API server, for the notes of the table. */
  servedBy: string;
  /** Garden and seed in one, because a second API server would compete for the two cores. */
  seed: BenchCluster;
  /** A second seed. Only if the options ask for it. */
  otherSeed?: BenchCluster | undefined;
  /** Only if the options ask for it. */
  shoot?: BenchCluster | undefined;
}

/** Options of a bench. */
interface BenchClustersOptions {
  /** Whether to start a shoot. */
  shoot?: boolean;
  /** Whether to start a second seed. */
  otherSeed?: boolean;
  /** Objects may be in missing namespaces, where the API server can be configured so. */
  anyNamespace?: boolean;
  /** Fails instead of falling back to embedded API servers. */
  onlyReal?: boolean;
}

type Start = (name: string, crds: KubeObject[]) => Promise<BenchCluster & AsyncDisposable>;

/** Starts real API servers, or embedded ones if this machine neither has nor can build real ones. */
export async function startClusters(options: BenchClustersOptions, progress: Progress): Promise<BenchClusters> {
  try {
    await buildTools(['etcd', 'kube-apiserver'], progress);
  } catch (error) {
    if (options.onlyReal === true) throw error;
    progress(`the embedded API stands in for kube-apiserver: ${error instanceof Error ? error.message : error}`);
    return startEmbeddedClusters(options);
  }
  const etcd = await startEtcd();
  const anywhere = options.anyNamespace ? ['--disable-admission-plugins=NamespaceLifecycle'] : [];
  const start: Start = async (name, crds) => {
    const server = await startApiServer({ etcd, prefix: name, args: name === 'shoot' ? [] : anywhere });
    if (crds.length > 0) {
      const text = crds.map((crd) => `---\n${stringify(crd)}`).join('');
      await using file = await temporaryFile('crds.yaml', text);
      await installCrds(server, [file.path]);
    }
    const connection = { server: server.url, ca: server.ca, token: server.adminToken };
    const client = createKubeClient(connection, { userAgent: 'bench', timeoutMs: 60_000 });
    return {
      ...{ connection, client, kubeconfig: server.kubeconfig(), kubeconfigFile: await server.kubeconfigFile() },
      async [Symbol.asyncDispose]() {
        client.close();
        await server.stop();
      },
    };
  };
  return assemble('kube-apiserver', options, start, etcd);
}

/** Starts the landscape's embedded API servers, in this process. */
export async function startEmbeddedClusters(options: BenchClustersOptions = {}): Promise<BenchClusters> {
  return assemble('embedded API', options, async (name, crds) => {
    const cluster = await startCluster(crds);
    const { connection, kubeconfig } = cluster;
    const client = createKubeClient(connection, { userAgent: 'bench', timeoutMs: 600_000, connectTimeoutMs: 600_000 });
    const file = await temporaryFile(`${name}.yaml`, kubeconfig);
    return {
      ...{ connection, client, kubeconfig, kubeconfigFile: file.path },
      async [Symbol.asyncDispose]() {
        client.close();
        await cluster.stop();
        await file[Symbol.asyncDispose]();
      },
    };
  });
}

async function assemble(
  servedBy: string,
  options: BenchClustersOptions,
  start: Start,
  ...others: AsyncDisposable[]
): Promise<BenchClusters> {
  await using started = new AsyncDisposableStack();
  for (const other of others) started.use(other);
  const crds = [...gardenCrds(), ...seedCrds()];
  const seed = started.use(await start('seed', crds));
  const otherSeed = options.otherSeed ? started.use(await start('other-seed', crds)) : undefined;
  const shoot = options.shoot ? started.use(await start('shoot', [])) : undefined;
  const running = started.move();
  return { servedBy, seed, otherSeed, shoot, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Writes a file into a folder of its own, which is deleted with it. */
export async function temporaryFile(name: string, content: string): Promise<AsyncDisposable & { path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const path = join(folder, name);
  await writeFile(path, content, { mode: 0o600 });
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
