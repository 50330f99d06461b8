import { writeFile } from 'node:fs/promises';
import { type Landscape, startLandscape } from '@shoot-flux/landscape';
import { gitRepositories } from '@shoot-flux/landscape/flux/objects';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { files } from '../../infra/cli/testing.ts';
import { findFunctions } from '../../infra/functions.ts';
import { clientsOf } from '../../infra/process/clients.ts';
import { startProduct } from '../../infra/process/product.ts';
import { resources } from '../../shared/kube/resource.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { startCommand } from '../command-process.ts';
import { createMemoryTransport, type MemoryTransport } from '../memory-transport.ts';
import { settingsOf } from '../scenarios/context.ts';
import { branchOf, eventually, inFlux, inProject, privateRepository } from '../scenarios/stage.ts';
import { deployFunctions, startEmulator } from '../sqs.ts';

const SEEDS = ['a', 'b'] as const;
type SeedName = (typeof SEEDS)[number];
const prefix = 'shoot-flux-prod-';
const log = createLog('error', () => {});

let landscape: Landscape;
/** Which clusters each deployment has asked for anything. */
let asked: Map<string, Set<string>>;
/** Ends what a test has started, the last one first. */
let stops: (() => Promise<unknown>)[];

beforeEach(async () => {
  [stops, asked] = [[], new Map()];
  landscape = await startLandscape({ seeds: SEEDS, pendingMs: 200 });
  await landscape.createProject('foo');
  await setBranch('first');
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
  await landscape.stop();
});

const clusterOf = (name: string) => {
  const cluster = name === 'garden' ? landscape.garden : landscape.seeds.get(name);
  if (cluster === undefined) throw new Error(`There is no cluster ${name}.`);
  return cluster;
};
const gardenlet = (seed: SeedName) => {
  const found = landscape.seeds.get(seed);
  if (found === undefined) throw new Error(`There is no seed ${seed}.`);
  return found.gardenlet;
};
/** Credentials of a deployment for all clusters, as far as it asks. */
const credentials = (deployment: string) => {
  const own = new Set<string>();
  asked.set(deployment, own);
  return () => async (cluster: string) => {
    own.add(cluster);
    return clusterOf(cluster).connection;
  };
};
const askedBy = (deployment: string) => [...(asked.get(deployment) ?? [])].sort();
const settings = (seeds: readonly string[]) =>
  settingsOf({ seeds: [...seeds], hostKeyScan: { mode: 'off', allow: [], deny: [] } });

/** Remembers how something ends; returns its end. */
function endOf(stop: () => Promise<void>): () => Promise<void> {
  let ended: Promise<void> | undefined;
  const end = () => (ended ??= stop());
  stops.push(end);
  return end;
}

/** Starts `run` for seeds; returns its end. */
async function run(name: string, seeds: SeedName[]): Promise<() => Promise<void>> {
  const product = await startProduct({ credentials: credentials(name), settings: settings(seeds), log });
  return endOf(product.stop);
}

/** Starts a watcher of some clusters that sends through a transport in memory; returns its end. */
async function watch(
  name: string,
  sender: MemoryTransport,
  clusters: { garden: boolean; seeds: SeedName[] },
): Promise<() => Promise<void>> {
  const open = async () => ({ sender, stop: async () => {} });
  return endOf((await startProduct({ credentials: credentials(name), clusters, log, open })).stop);
}

/** Gardener creates a Shoot with the extension. */
async function createShoot(name: string, seed: SeedName): Promise<void> {
  await landscape.createShoot('garden-foo', name, { seedName: seed });
  await gardenlet(seed).reconcile({ namespace: 'garden-foo', name });
}
async function setBranch(repositoryBranch: string): Promise<void> {
  const data = { ...privateRepository, repositoryBranch, syncMode: 'Reconcile' };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: inProject('flux-config'), data };
  await landscape.garden.client.apply(resources.configMaps, object, { fieldManager: 'project' });
}
const branch = async (name: string) =>
  branchOf(await landscape.shoot(`shoot--foo--${name}`)?.client.find(gitRepositories, inFlux('main-gitrepo')));
const untilBranch = async (wanted: string, ...names: string[]) => {
  const wait = (name: string) =>
    eventually(
      `${wanted} in ${name}`,
      () => branch(name),
      (live) => live === wanted,
    );
  await Promise.all(names.map(wait));
};
/** The ManagedResources of a Shoot, with identity and generation: only writes of the product change them. */
async function managedResources(name: string, seed: SeedName): Promise<string[]> {
  const options = { namespace: `shoot--foo--${name}` };
  const { items } = await clusterOf(seed).client.list(resources.managedResources, options);
  return items.map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.generation}`);
}
const key = async () => {
  const secret = await landscape.garden.client.find(resources.secrets, inProject('flux-source'));
  return { uid: secret?.metadata.uid, identity: (secret?.data as Record<string, string> | undefined)?.identity };
};

/** Two Shoots come up, an edit reaches both, and one of them moves to the other seed. */
async function live(): Promise<void> {
  await Promise.all([createShoot('one', 'a'), createShoot('two', 'b')]);
  const first = await key();
  expect(first.identity).toBeDefined();
  await setBranch('second');
  await untilBranch('second', 'one', 'two');
  const one = { namespace: 'garden-foo', name: 'one' };
  await gardenlet('b').restore(one, await gardenlet('a').migrate(one));
  expect(await managedResources('one', 'a')).toEqual([]);
  await setBranch('third');
  await untilBranch('third', 'one', 'two');
  expect(await key()).toEqual(first);
}

describe('Shoots on two seeds', () => {
  it('are served by one deployment per seed, none of which asks the other seed for anything', async () => {
    await Promise.all([run('of a', ['a']), run('of b', ['b'])]);
    await live();
    expect(askedBy('of a')).toEqual(['a', 'garden']);
    expect(askedBy('of b')).toEqual(['b', 'garden']);
  });

  it('are served with a garden watcher and seed watchers apart, through a transport in memory, the smallest there is', async () => {
    const transport = createMemoryTransport();
    const clients = { credentials: credentials('functions'), metrics: noMetrics, health: createClusterHealth() };
    const kube = clientsOf('functions', clients);
    const dependencies = { kube, settings: settings(SEEDS), now: () => new Date(), log, metrics: noMetrics };
    transport.receive(await findFunctions(), dependencies);
    stops.push(async () => transport.stop());
    const endGarden = await watch('of garden', transport, { garden: true, seeds: [] });
    await Promise.all(SEEDS.map((seed) => watch(`of ${seed}`, transport, { garden: false, seeds: [seed] })));
    await live();
    expect(['of garden', 'of a', 'of b'].map(askedBy)).toEqual([['garden'], ['a'], ['b']]);

    // Without the watcher of the garden, Shoots come up with the configuration that is there.
    await endGarden();
    await setBranch('fourth');
    await createShoot('three', 'a');
    expect(await branch('three')).toBe('fourth');
    // The next one finds what this one has missed, and what follows.
    await watch('of garden again', transport, { garden: true, seeds: [] });
    await untilBranch('fourth', 'one', 'two');
    await setBranch('fifth');
    await untilBranch('fifth', 'one', 'two', 'three');
    expect(transport.deadLetters).toEqual([]);
  });

  it('are served with watchers in seeds and functions on a queue, whatever watcher is killed', async () => {
    const emulator = await startEmulator();
    stops.push(emulator.stop);
    const queues = { endpoint: emulator.endpoint, prefix };
    const options = { ...queues, log, credentials: credentials('functions'), settings: settings(SEEDS) };
    endOf((await deployFunctions(options)).stop);
    await using input = await files({ garden: '', a: '', b: '', config: `queuePrefix: ${prefix}\n` });
    const watcher = async (cluster: 'garden' | SeedName) => {
      await writeFile(input.paths[cluster], clusterOf(cluster).kubeconfig);
      const own = cluster === 'garden' ? {} : { GARDEN: 'none', SEEDS: `${cluster}=${input.paths[cluster]}` };
      // As in a Pod: one config file for all, and what Gardener injects.
      const injected = { GARDEN_KUBECONFIG: input.paths.garden, CONFIG: input.paths.config };
      const environment = { ...injected, ...own, SQS_ENDPOINT: emulator.endpoint };
      const process = startCommand(['watch'], { environment });
      stops.push(async () => process[Symbol.asyncDispose]());
      await process.until(/^shoot-flux watches /m);
      return process;
    };
    const clusters = ['garden', ...SEEDS] as const;
    const watchers = await Promise.all(clusters.map(watcher));
    const killing = async () => {
      for (const [index, cluster] of clusters.entries()) {
        await new Promise((resolve) => setTimeout(resolve, 700));
        await watchers[index]?.end('SIGKILL');
        await watcher(cluster);
      }
    };
    await Promise.all([live(), killing()]);
  });
});

it('a seed moves to another deployment: its Shoots wait in between, and nothing is written again', async () => {
  const endOld = await run('old', ['a', 'b']);
  await Promise.all([createShoot('one', 'a'), createShoot('two', 'b')]);
  const before = await managedResources('one', 'a');
  expect(before).toHaveLength(4);
  await endOld();
  await run('smaller', ['a']);
  // The new deployment has seen every Shoot once it serves a request of gardenlet.
  await createShoot('three', 'a');
  expect(await managedResources('one', 'a')).toEqual(before);
  await setBranch('second');
  await untilBranch('second', 'one', 'three');
  expect(await branch('two')).toBe('first');
  expect(askedBy('smaller')).toEqual(['a', 'garden']);

  await run('new', ['b']);
  await untilBranch('second', 'two');
  expect(askedBy('new')).toEqual(['b', 'garden']);
});
