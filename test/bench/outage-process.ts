import { setTimeout as sleep } from 'node:timers/promises';
import { startProduct } from '../../infra/process/product.ts';
import type { Connection } from '../../shared/kube/connection.ts';
import { resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { startFastClock } from '../fast-clock.ts';
import { startTcpProxy } from '../tcp-proxy.ts';
import type { Progress } from './bench.ts';
import { requestReconciliations } from './landscape/gardenlet.ts';
import { edit, liveAnHour, sourceOf, untilSource } from './landscape/life-of-an-hour.ts';
import { SEED } from './landscape/objects.ts';
import { countRuns, type RunSummary } from './landscape/run-counts.ts';
import { settings } from './landscape/run-function.ts';
import { controlPlanes, OTHER_SEED, playShoots, startTwoSeeds, type TwoSeeds } from './landscape/two-seeds.ts';
import { percentile } from './numbers.ts';

/** The one message of the process to its parent. */
export interface OutageReport {
  /** Connections to the seed in the hour in which it swallowed packets. */
  connections: number;
  /** Runs for its Shoots in this hour. */
  meanwhile: RunSummary;
  /** Changes of the healthy seed in the last minute of this hour, in ms. */
  healthyMs: { p99: number; median: number };
  /** From its return until each Shoot has the last edit. */
  replaySeconds: number;
  /** CPU time of the process meanwhile, with that of the API servers. */
  cpuSeconds: number;
  /** Runs for the Shoots that existed all the time, from its return on. */
  replay: RunSummary;
  /** The heap before and after, in MB. */
  heapMb: [number, number];
}

const planes = controlPlanes({ healthy: 20, stay: 280, replaced: 20 });
/** Time passes so many times faster while the process is idle. */
const FACTOR = 50;
/** After the start each Shoot has its first runs, spread over two minutes. */
const SETTLED_MS = 180_000;
const REQUESTS = 150;
const EVERY_MS = 400;
const EDIT_AFTER_MS = 10_000;
/** After the last edit has arrived; the next look is due after two minutes. */
const REPLAY_MS = 30_000;
const COLLECTIONS = 5;
const BETWEEN_COLLECTIONS_MS = 2000;
const progress: Progress = (text) => process.stderr.write(`  outage: ${text}\n`);

/** An hour in which one of two seeds swallows packets passes in two minutes. */
async function main(): Promise<void> {
  const world = await startTwoSeeds(planes, progress);
  const { seed, otherSeed } = world;
  const clock = startFastClock(FACTOR);
  const [applies = ''] = planes.healthy;
  const stopping = new AbortController();
  const players = playShoots(world, applies, stopping.signal);
  await using proxy = await startTcpProxy(otherSeed.connection.server);
  const connections: Record<string, Connection> = { [OTHER_SEED]: { ...otherSeed.connection, server: proxy.url } };
  const runs = countRuns();
  const product = await startProduct({
    credentials: () => async (name) => connections[name] ?? seed.connection,
    settings: { ...settings, seeds: [SEED, OTHER_SEED] },
    log: createLog('info', runs.read),
  });
  await sleep(SETTLED_MS);
  const before = await heapMb(world);
  progress(`all Shoots are at rest, ${before.toFixed(0)} MB`);

  runs.reset();
  const accepted = proxy.accepted();
  proxy.behave('swallow');
  await liveAnHour({ ...world, lost: otherSeed, lostSeed: OTHER_SEED, ...planes, progress });
  clock.slowDown();
  const edited = sleep(EDIT_AFTER_MS).then(() => edit(seed, 'last-edit'));
  const answers = await requestReconciliations(seed.client, planes.healthy, { everyMs: EVERY_MS, count: REQUESTS });
  await edited;
  const meanwhile = runs.of([...planes.stay, ...planes.deleted, ...planes.created]);
  const connected = proxy.accepted() - accepted;
  progress('60 min: the seed answers again');

  runs.reset();
  proxy.behave('forward');
  const returned = performance.now();
  const cpuBefore = process.cpuUsage();
  await untilSource(otherSeed, [...planes.stay, ...planes.created], await sourceOf(seed, applies));
  const replaySeconds = (performance.now() - returned) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  progress(`all Shoots have the last edit after ${replaySeconds.toFixed(1)} s`);
  await sleep(REPLAY_MS);
  await expectNothingOf(world, planes.deleted);
  if (runs.givenUp.length > 0) throw new Error(`Changes were given up: ${runs.givenUp.slice(0, 3).join('; ')}`);
  const report: OutageReport = {
    ...{
      connections: connected,
      meanwhile,
      replaySeconds,
      cpuSeconds: (user + system) / 1e6,
      replay: runs.of(planes.stay),
    },
    healthyMs: { p99: percentile(answers, 99), median: percentile(answers, 50) },
    heapMb: [before, await heapMb(world)],
  };
  process.send?.(report);
  stopping.abort();
  await product.stop();
  await players;
  await world.clusters[Symbol.asyncDispose]();
  process.exit();
}

/** What was deleted during the outage must not come back. */
async function expectNothingOf({ otherSeed }: TwoSeeds, namespaces: readonly string[]): Promise<void> {
  for (const namespace of namespaces) {
    const { items } = await otherSeed.client.list(resources.managedResources, { namespace });
    if (items.length > 0) throw new Error(`The deleted Shoot ${namespace} has ManagedResources again.`);
  }
}

/** Returns the memory that is in use between runs, without the history of the embedded API servers. */
async function heapMb({ seed, otherSeed, shoot }: TwoSeeds): Promise<number> {
  for (const cluster of [seed, otherSeed, shoot]) cluster.compact?.();
  let least = Number.POSITIVE_INFINITY;
  for (let times = 0; times < COLLECTIONS; times++) {
    await sleep(BETWEEN_COLLECTIONS_MS);
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    least = Math.min(least, heapUsed + external);
  }
  return least / 1e6;
}

if (import.meta.main) await main();
