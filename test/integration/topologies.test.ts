import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqsSender } from '../../events/sqs/open-sender.ts';
import { files } from '../../infra/cli/testing.ts';
import { findDefinitions } from '../../infra/functions.ts';
import { startProduct } from '../../infra/process/product.ts';
import { startWatching } from '../../infra/process/watching.ts';
import { resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { deployFunctions } from '../lambdas.ts';
import { PROJECT } from '../scenarios/stage.ts';
import { SEEDS, type SeedName, startTwoSeeds, type TwoSeeds } from '../scenarios/two-seeds.ts';
import { type Emulator, startEmulator } from '../sqs.ts';
import { startCli } from './cli-process.ts';
import { ownDistribution } from './embedded-apis.ts';

const prefix = 'shoot-flux-prod-';
const log = createLog('error', () => {});

let landscape: TwoSeeds;
let emulator: Emulator;
/** Ends what a test has started, the last one first. */
let stops: (() => Promise<unknown>)[];

beforeEach(async () => {
  stops = [];
  landscape = await startTwoSeeds(ownDistribution);
  emulator = await startEmulator();
  await landscape.setBranch('first');
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
  await emulator.stop();
  await landscape[Symbol.asyncDispose]();
});

/** Starts `run` for seeds; returns its end. */
async function run(name: string, seeds: SeedName[]): Promise<() => Promise<void>> {
  const product = await startProduct({
    ...{ credentials: landscape.credentials(name), settings: landscape.settings(seeds), log },
  });
  let ended: Promise<void> | undefined;
  const stop = () => (ended ??= product.stop());
  stops.push(stop);
  return stop;
}

/** Runs the functions behind queues in SQS. */
async function runFunctions(seeds: SeedName[]): Promise<void> {
  const deployment = await deployFunctions({
    ...{ endpoint: emulator.endpoint, prefix, log },
    ...{ credentials: landscape.credentials('functions'), settings: landscape.settings(seeds) },
  });
  stops.push(deployment.stop);
}

/** Starts a watcher of some clusters that sends to these queues; returns its end. */
async function watch(name: string, clusters: { garden: boolean; seeds: SeedName[] }): Promise<() => Promise<void>> {
  const queues = { endpoint: emulator.endpoint, prefix, seeds: clusters.seeds };
  const watching = await startWatching({
    ...{ credentials: landscape.credentials(name), clusters, log },
    open: (definitions) => openSqsSender({ definitions, ...queues }),
  });
  let ended: Promise<void> | undefined;
  const stop = () => (ended ??= watching.stop());
  stops.push(stop);
  return stop;
}

const key = async () => {
  const secret = await landscape.garden.find(resources.secrets, { namespace: PROJECT, name: 'flux-source' });
  return { uid: secret?.metadata.uid, identity: (secret?.data as Record<string, string> | undefined)?.identity };
};

/** Two Shoots come up, an edit reaches both, and one of them moves to the other seed. */
async function live(): Promise<void> {
  await Promise.all([landscape.createShoot('one', 'a'), landscape.createShoot('two', 'b')]);
  const first = await key();
  expect(first.identity).toBeDefined();
  await landscape.setBranch('second');
  await Promise.all(['one', 'two'].map((name) => landscape.untilBranch(name, 'second')));
  await landscape.migrateShoot('one', 'a', 'b');
  expect(await landscape.managedResources('one', 'a')).toEqual({});
  await landscape.setBranch('third');
  await Promise.all(['one', 'two'].map((name) => landscape.untilBranch(name, 'third')));
  expect(await key()).toEqual(first);
}

describe('Shoots on two seeds', () => {
  it('are served by one deployment for many seeds', async () => {
    await run('deployment', ['a', 'b']);
    await live();
    expect(landscape.asked('deployment')).toEqual(['a', 'b', 'garden']);
  });

  it('are served by one deployment per seed, none of which asks the other seed for anything', async () => {
    await Promise.all([run('of a', ['a']), run('of b', ['b'])]);
    await live();
    expect(landscape.asked('of a')).toEqual(['a', 'garden']);
    expect(landscape.asked('of b')).toEqual(['b', 'garden']);
  });

  it('are served with a garden watcher and seed watchers apart, of which each sees its cluster only', async () => {
    await runFunctions(['a', 'b']);
    const endGarden = await watch('of garden', { garden: true, seeds: [] });
    await Promise.all(SEEDS.map((seed) => watch(`of ${seed}`, { garden: false, seeds: [seed] })));
    await live();
    expect(['of garden', 'of a', 'of b'].map(landscape.asked)).toEqual([['garden'], ['a'], ['b']]);

    // Without the watcher of the garden, Shoots come up with the configuration that is there.
    await endGarden();
    await landscape.setBranch('fourth');
    await landscape.createShoot('three', 'a');
    expect(await landscape.branchOf('three')).toBe('fourth');
    // The next one finds what this one has missed, and what follows.
    await watch('of garden again', { garden: true, seeds: [] });
    await Promise.all(['one', 'two'].map((name) => landscape.untilBranch(name, 'fourth')));
    await landscape.setBranch('fifth');
    await Promise.all(['one', 'two', 'three'].map((name) => landscape.untilBranch(name, 'fifth')));
  });

  it('are served with watchers in seeds and functions on a queue, whatever watcher is killed', async () => {
    await runFunctions(['a', 'b']);
    await using input = await files({ garden: '', a: '', b: '', config: `queuePrefix: ${prefix}\nport: 0\n` });
    const watcher = async (cluster: 'garden' | SeedName) => {
      await writeFile(input.paths[cluster], landscape.apis[cluster].kubeconfig());
      const own = cluster === 'garden' ? {} : { GARDEN: 'none', SEEDS: `${cluster}=${input.paths[cluster]}` };
      // As in a Pod: one config file for all, and what Gardener injects.
      const injected = { GARDEN_KUBECONFIG: input.paths.garden, CONFIG: input.paths.config };
      const process = startCli(['watch'], { ...injected, ...own, SQS_ENDPOINT: emulator.endpoint });
      stops.push(async () => process[Symbol.asyncDispose]());
      await process.until(/^shoot-flux watches /m);
      return process;
    };
    const watchers = await Promise.all((['garden', ...SEEDS] as const).map(watcher));
    const living = live();
    const killing = (async () => {
      for (const [index, cluster] of (['garden', ...SEEDS] as const).entries()) {
        await new Promise((resolve) => setTimeout(resolve, 700));
        await watchers[index]?.end('SIGKILL');
        await watcher(cluster);
      }
    })();
    await Promise.all([living, killing]);
  });
});

describe('a seed', () => {
  it('moves to another deployment: its Shoots wait in between, and nothing is written again', async () => {
    const endOld = await run('old', ['a', 'b']);
    await Promise.all([landscape.createShoot('one', 'a'), landscape.createShoot('two', 'b')]);
    await endOld();
    await run('smaller', ['a']);
    await landscape.setBranch('second');
    await landscape.untilBranch('one', 'second');
    expect(await landscape.branchOf('two')).toBe('first');
    expect(landscape.asked('smaller')).toEqual(['a', 'garden']);

    await run('new', ['b']);
    await landscape.untilBranch('two', 'second');
    expect(landscape.asked('new')).toEqual(['b', 'garden']);
  });

  it('that moves without an edit in between keeps every ManagedResource as it is', async () => {
    const endOld = await run('old', ['a']);
    await landscape.createShoot('one', 'a');
    const before = await landscape.managedResources('one', 'a');
    expect(Object.keys(before)).toHaveLength(4);
    await endOld();
    await run('new', ['a']);
    // The new deployment has seen every Shoot once it serves a request of gardenlet.
    await landscape.createShoot('two', 'a');
    await expect.poll(() => landscape.asked('new')).toEqual(['a', 'garden']);
    expect(await landscape.managedResources('one', 'a')).toEqual(before);
  });

  it('cannot be watched for functions that do not serve it', async () => {
    await runFunctions(['a', 'b']);
    const queues = { definitions: await findDefinitions(), endpoint: emulator.endpoint, prefix };
    await expect(openSqsSender({ ...queues, seeds: ['c'] })).rejects.toThrow(
      'The functions behind the queues shoot-flux-prod-* serve a, b, and not c; add the seed to the functions first',
    );
    const sender = await openSqsSender({ ...queues, seeds: ['a'] });
    await sender.stop();
  });
});
