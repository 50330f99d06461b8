import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Landscape, startLandscape } from '@shoot-flux/landscape';
import type { Cluster } from '@shoot-flux/landscape/cluster';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { type GitRepository, startGitServer } from '@shoot-flux/landscape/git';
import { type NetworkPath, networkPath } from '../bench/landscape/network.ts';

const manifest = `apiVersion: v1
kind: ConfigMap
metadata: { name: hello, namespace: default }
`;

/** A landscape of two seeds whose connections to the product can fail. */
export interface SoakWorld extends AsyncDisposable {
  landscape: Landscape;
  repository: GitRepository;
  /** Garden and seeds by name, each with the network path that the product uses. */
  paths: ReadonlyMap<string, NetworkPath>;
  clusters: ReadonlyMap<string, Cluster>;
  /** The product's command line. */
  args: string[];
}

/** Starts garden, two seeds and a Git server. */
export async function startSoakWorld(): Promise<SoakWorld> {
  await using started = new AsyncDisposableStack();
  const git = started.use(await startGitServer());
  const repository = await git.createRepository('fleet', {
    'kustomization.yaml': 'resources: [hello.yaml]\n',
    'hello.yaml': manifest,
  });
  const landscape = await startLandscape({ seeds: ['one', 'two'] });
  started.defer(() => landscape.stop());
  const folder = await mkdtemp(join(tmpdir(), 'soak-'));
  started.defer(() => rm(folder, { recursive: true }));
  const clusters = new Map<string, Cluster>([['garden', landscape.garden], ...landscape.seeds]);
  const paths = new Map<string, NetworkPath>();
  const args = [`--flux-distribution=${standInDistribution.folder}`];
  for (const [name, { connection, kubeconfig }] of clusters) {
    const { port } = new URL(connection.server);
    const path = started.use(await networkPath(Number(port)));
    paths.set(name, path);
    const file = join(folder, `${name}.yaml`);
    await writeFile(file, kubeconfig.replaceAll(`:${port}`, `:${path.port}`), { mode: 0o600 });
    args.push(name === 'garden' ? `--garden=${file}` : `--seed=${name}=${file}`);
  }
  const running = started.move();
  return {
    landscape,
    repository,
    paths,
    clusters,
    args,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
