import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Landscape, startLandscape, technicalIdOf } from '@shoot-flux/landscape';
import type { Cluster } from '@shoot-flux/landscape/cluster';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import { type Product, startProduct } from '../../infra/process/product.ts';
import { errorMessage } from '../../shared/errors.ts';
import { distributionAt } from '../../shared/flux/distribution.ts';
import { resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { testDistribution } from '../made-distribution.ts';
import type { Objects } from './crowd.ts';
import { createObserver, type Observer } from './observe.ts';
import type { Output } from './output.ts';
import { podinfoFiles, versions } from './podinfo.ts';
import { podinfoIn, showResult } from './result.ts';
import { createRuns, type Runs } from './runs.ts';

export interface DemoOptions {
  /** Folder of Flux releases. Default: the real ones where they are beside the repository, else a small one. */
  fluxDistribution?: string | undefined;
  output: Output;
  /** Resolves with the cause when the demo has to stop early. */
  ended: Promise<string>;
}

export interface Demo {
  /** One sentence for each failure; empty on success. */
  missing: string[];
  /** The objects of the garden, without HTTP. */
  garden: Objects;
  /** Writes kubeconfigs for kubectl; returns name -> path. */
  writeKubeconfigs(folder: string): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

const root = join(import.meta.dirname, '../..');
const shootNames = ['spring', 'summer'];
const PROJECT = 'demo';
const PUBLIC_KEY = 'flux.extensions.gardener.cloud/public-key';

/** How long the demo waits. Even a busy machine has delivered both Shoots by then. */
const LIMIT_MS = 240_000;

/** Runs the demo: two Shoots deploy a private repository and follow a commit to it. */
export async function runDemo({ output, ended, ...options }: DemoOptions): Promise<Demo> {
  const distribution = options.fluxDistribution ?? (await testDistribution()) ?? standInDistribution.folder;
  const releases = await distributionAt(distribution).versions();
  if (releases.length === 0) throw new Error(`${distribution} has no Flux release: it needs folders such as v2.9.4.`);
  const waits = new AbortController();
  const signal = AbortSignal.any([waits.signal, AbortSignal.timeout(LIMIT_MS)]);
  output.chapter('A Gardener landscape, a Git server and the product, in this process');
  output.block([
    `Flux releases: ${releases.join(', ')} from ${relative(root, distribution)}`,
    'Flux, gardenlet and resource-manager: stand-ins, see test/landscape; this kustomize-controller applies plain YAML',
  ]);

  const runs = createRuns(output);
  const observer = createObserver(output);
  const [git, landscape] = await Promise.all([
    startGitServer(),
    startLandscape({
      reconcileMs: LIMIT_MS,
      onStep: (shoot, step) => output.line('gardenlet', `${shoot}: ${step}`),
    }),
  ]);
  const product = await startProductOn(landscape, distribution, runs);
  output.line('landscape', 'garden, seed, Git server and shoot-flux are running');
  observer.seed(landscape.seed);

  const missing: string[] = [];
  const demo: Demo = {
    missing,
    garden: landscape.garden.api.objects,
    writeKubeconfigs: (folder) => writeKubeconfigs(folder, landscape),
    async stop() {
      await product.stop();
      await landscape.stop();
      await git.stop();
    },
  };
  try {
    const early = ended.then((reason) => Promise.reject(new Error(`the demo was stopped early by ${reason}`)));
    await Promise.race([play({ output, git, landscape, observer, signal }), early]);
  } catch (error) {
    missing.push(errorMessage(error));
  } finally {
    // A wait that is still open would keep the process until the time limit.
    waits.abort();
  }
  // Later events, for example released ManagedResources in mode Once, would only distract from the result.
  runs.mute();
  await observer.stop();
  missing.push(...(await showResult(output, landscape, shootIds)));
  return demo;
}

interface Stage {
  output: Output;
  git: GitServer;
  landscape: Landscape;
  observer: Observer;
  /** Ends each wait: the time limit has passed, or the play is over. */
  signal: AbortSignal;
}

async function play({ output, git, landscape, observer, signal }: Stage): Promise<void> {
  const { garden, seed } = landscape;

  output.chapter('A project with a private repository');
  const repository = await git.createRepository('fleet', podinfoFiles(versions.first));
  output.line('git', `private repository ${repository.sshUrl} with podinfo ${versions.first}`);
  const namespace = await landscape.createProject(PROJECT);
  const data = {
    repositoryUrl: repository.sshUrl,
    repositoryBranch: 'main',
    repositoryType: 'private',
    repositoryPath: './podinfo',
    repositoryInterval: '1s',
    knownHosts: git.knownHosts,
  };
  output.line('project', `creates ConfigMap flux-config in ${namespace}:`);
  output.block(Object.entries(data).map(([key, value]) => `${key}: ${value}`));
  await garden.client.apply(
    resources.configMaps,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'flux-config' }, data },
    { fieldManager: 'demo' },
  );

  const publicKey = await until(signal, 'there is no deploy key: Secret flux-source has no public key', async () => {
    const secret = await garden.client.find(resources.secrets, { namespace, name: 'flux-source' });
    return secret?.metadata.annotations?.[PUBLIC_KEY];
  });
  output.line('project', 'copies the public key from Secret flux-source or its Event, and adds it as a deploy key:');
  output.block([publicKey]);
  git.addDeployKey(repository.name, publicKey);

  output.chapter(`Two Shoots with the extension: ${shootNames.join(' and ')}`);
  await Promise.all(
    shootNames.map(async (name) => {
      const shoot = await landscape.createShoot(namespace, name);
      const technicalId = technicalIdOf(shoot);
      void until(signal, '', async () => landscape.shoot(technicalId)).then(
        (cluster) => observer.shoot(technicalId, cluster),
        () => {},
      );
      await seed.gardenlet.reconcile({ namespace, name });
      output.line('gardenlet', `${technicalId}: Shoot is created`, 'green');
    }),
  );
  await untilAllRun(landscape, versions.first, signal);

  output.chapter('A commit to the repository');
  const commit = await repository.commit(podinfoFiles(versions.second), `podinfo ${versions.second}`);
  output.line('git', `commit ${commit.slice(0, 7)}: podinfo ${versions.second}`);
  await untilAllRun(landscape, versions.second, signal);
}

const shootIds = shootNames.map((name) => `shoot--${PROJECT}--${name}`);

async function untilAllRun(landscape: Landscape, version: string, signal: AbortSignal): Promise<void> {
  for (const id of shootIds) {
    await until(signal, `${id} does not run podinfo ${version}`, async () => {
      const { image, available } = await podinfoIn(landscape.shoot(id));
      return (image.endsWith(`:${version}`) && available) || undefined;
    });
  }
}

async function until<T>(signal: AbortSignal, missing: string, find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (signal.aborted) throw new Error(missing);
    await sleep(50, undefined, { signal }).catch(() => {});
  }
}

function startProductOn({ garden, seed }: Landscape, fluxDistribution: string, runs: Runs): Promise<Product> {
  const connections: Record<string, Cluster> = { garden, local: seed };
  return startProduct({
    credentials: () => async (cluster) => {
      const found = connections[cluster];
      if (found === undefined) throw new Error(`The demo has no cluster ${cluster}.`);
      return found.connection;
    },
    settings: {
      version: '0.1.0',
      landscape: PROJECT,
      seeds: ['local'],
      fluxDistribution,
      shootHealth: false,
      shootAccess: 'external',
    },
    log: createLog('info', runs.write),
  });
}

async function writeKubeconfigs(folder: string, landscape: Landscape): Promise<Record<string, string>> {
  const clusters: Record<string, Cluster | undefined> = { garden: landscape.garden, seed: landscape.seed };
  for (const id of shootIds) clusters[id] = landscape.shoot(id);
  const paths: Record<string, string> = {};
  for (const [name, cluster] of Object.entries(clusters)) {
    if (cluster === undefined) continue;
    paths[name] = join(folder, `${name}.yaml`);
    await writeFile(paths[name], cluster.kubeconfig, { mode: 0o600 });
  }
  return paths;
}

/** Creates a temporary folder for kubeconfigs. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'shoot-flux-demo-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
