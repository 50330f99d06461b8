import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLandscape } from '@shoot-flux/landscape';
import type { Cluster } from '@shoot-flux/landscape/cluster';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { startGitServer } from '@shoot-flux/landscape/git';
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts';

const manifest = `apiVersion: v1
kind: ConfigMap
metadata: { name: hello, namespace: default }
`;

export type SoakWorld = Awaited<ReturnType<typeof startSoakWorld>>;

/** Starts a Git server and a landscape of two seeds whose connections to the product can fail. */
export async function startSoakWorld() {
  await using started = new AsyncDisposableStack();
  const git = started.use(await startGitServer());
  const repository = await git.createRepository('fleet', { 'hello.yaml': manifest });
  const landscape = await startLandscape({ seeds: ['one', 'two'] });
  started.defer(() => landscape.stop());
  const folder = await mkdtemp(join(tmpdir(), 'soak-'));
  started.defer(() => rm(folder, { recursive: true }));
  const clusters = new Map<string, Cluster>([['garden', landscape.garden], ...landscape.seeds]);
  const proxies = new Map<string, TcpProxy>();
  const args = [`--flux-distribution=${standInDistribution.folder}`];
  for (const [name, { connection, kubeconfig }] of clusters) {
    const proxy = started.use(await startTcpProxy(connection.server));
    proxies.set(name, proxy);
    const file = join(folder, `${name}.yaml`);
    await writeFile(file, kubeconfig.replaceAll(connection.server, proxy.url), { mode: 0o600 });
    args.push(name === 'garden' ? `--garden=${file}` : `--seed=${name}=${file}`);
  }
  const running = started.move();
  return {
    landscape,
    repository,
    /** The proxies by the name of their cluster, through which the product reaches garden and seeds. */
    proxies,
    clusters,
    /** The product's command line. */
    args,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
