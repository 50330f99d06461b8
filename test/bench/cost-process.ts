import { setTimeout as sleep } from 'node:timers/promises';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { startResourceManager } from '@shoot-flux/landscape/resource-manager';
import type { Activity } from '../../infra/docs/cost/inputs.ts';
import { OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { startFastClock } from '../fast-clock.ts';
import type { Progress } from './bench.ts';
import type { BenchCluster } from './landscape/bench-clusters.ts';
import { startEmbeddedClusters } from './landscape/embedded-clusters.ts';
import { keepReady } from './landscape/flux.ts';
import { edit } from './landscape/life-of-an-hour.ts';
import { copyShoots, type ModelShoot, modelShoot } from './landscape/model-shoot.ts';
import { controlPlane, extension, fluxConfig, namespace, PROJECT_NAMESPACE, SEED } from './landscape/objects.ts';
import { startOnSqs } from './landscape/on-sqs.ts';
import { startCountedQueue } from './landscape/queue-counts.ts';
import { countRequests } from './landscape/requests.ts';
import { createShoots } from './landscape/shoots.ts';
import { stampApplied } from './landscape/stamp.ts';

/** Whether the Shoots follow their configuration, or have released it. */
export type CostKind = 'followed' | 'released';

/** The one message of the process to its parent. */
export interface CostReport {
  /** For each Shoot and hour. */
  atRest: Activity;
  /** For each Shoot and event, beyond what happens at rest. */
  edit: Activity;
  reconcile: Activity;
  create: Activity;
  /** Runs by function and outcome, in all hours. */
  runs: Record<string, number>;
}

const SHOOTS = 5;
const CREATED = 2;
/** Time passes so many times faster while the process is idle. */
const FACTOR = 300;
const HOUR_MS = 3_600_000;
const REST_HOURS = 4;
const write = { fieldManager: 'bench' };

/** Counts what Shoots of one kind cause at rest and after events, with queues in SQS, while hours pass in minutes. */
async function main([kind = 'followed']: string[]): Promise<void> {
  const progress: Progress = (text) => process.stderr.write(`  cost: ${kind}: ${text}\n`);
  const clusters = await startEmbeddedClusters({ shoot: true }, [...gardenCrds(), ...seedCrds()]);
  const { seed, shoot } = clusters;
  if (shoot === undefined) throw new Error('There is no shoot.');
  const names = Array.from({ length: SHOOTS }, (_, number) => controlPlane(number));
  const created = Array.from({ length: CREATED }, (_, number) => controlPlane(SHOOTS + number));
  for (const name of [PROJECT_NAMESPACE, ...names, ...created]) {
    await seed.client.create(resources.namespaces, namespace(name), write);
  }
  await seed.client.create(resources.configMaps, fluxConfig(kind === 'released' ? 'Once' : 'Reconcile'), write);
  // The model is the first of the Shoots.
  const model = await modelShoot(clusters, () => {});
  await copyShoots(seed, model, names.slice(1), () => {});
  await createShoots(seed.client, names.map(inSeed), () => {});

  const queue = await startCountedQueue();
  using requests = countRequests();
  startFastClock(FACTOR);
  const runs: Record<string, number> = {};
  let invocations = 0;
  const log = createLog('info', (line) => {
    const { message, function: name, outcome } = JSON.parse(line);
    if (message !== 'reconcile finished') return;
    invocations++;
    const ended = `${name} ${outcome}`;
    runs[ended] = (runs[ended] ?? 0) + 1;
  });
  const shootHost = new URL(shoot.connection.server).host;
  const count = (): Activity => {
    const by = { garden: 0, seed: 0, shoot: 0 };
    for (const { by: identity, host, text } of requests.requests) {
      if (identity === 'watcher') continue;
      by[host === shootHost ? 'shoot' : text.includes(`/namespaces/${PROJECT_NAMESPACE}/`) ? 'garden' : 'seed']++;
    }
    return { invocations, ...by, ...queue.counts() };
  };
  const during = async (hours: number, event: () => Promise<void> = async () => {}): Promise<Activity> => {
    const before = count();
    await event();
    await sleep(hours * HOUR_MS);
    return combined(count(), before, (now, then) => now - then);
  };

  const stopping = new AbortController();
  const { signal } = stopping;
  // Everything that the product writes is applied.
  const players = [stampApplied(seed.client, signal), keepReady(shoot.client, signal)];
  await startOnSqs(queue.endpoint, seed.connection, log);
  await sleep(HOUR_MS);
  const rest = await during(REST_HOURS);
  const restOfHour = combined(rest, rest, (all) => all / REST_HOURS);
  progress(`at rest: ${JSON.stringify(runs)}`);
  await startResourceManager({
    ...{ source: seed.connection, target: shoot.connection, namespace: names[0] ?? '' },
    targetNamespaces: ['kube-system', 'flux-system'],
  });
  const beyondRest = async (shoots: number, event: () => Promise<void>): Promise<Activity> =>
    combined(await during(1, event), restOfHour, (all, atRest) => Math.max(0, all - atRest) / shoots);
  const report: CostReport = {
    atRest: combined(restOfHour, restOfHour, (all) => all / SHOOTS),
    edit: await beyondRest(SHOOTS, () => edit(seed, 'edited')),
    reconcile: await beyondRest(SHOOTS, () => reconcile(seed, names)),
    create: await beyondRest(CREATED, () => create(seed, model, created)),
    runs,
  };
  progress(`in all: ${JSON.stringify(runs)}`);
  process.send?.(report);
  stopping.abort();
  await Promise.allSettled(players);
  process.exit();
}

/** Combines two counts, measure by measure. */
function combined(one: Activity, other: Activity, by: (one: number, other: number) => number): Activity {
  const measures = Object.keys(one) as (keyof Activity)[];
  return Object.fromEntries(measures.map((name) => [name, by(one[name], other[name])])) as unknown as Activity;
}

function inSeed(namespace: string) {
  return { seed: SEED, namespace };
}

/** What gardenlet does for each Shoot once a day. */
async function reconcile({ client }: BenchCluster, names: readonly string[]): Promise<void> {
  const annotations = { [OPERATION_ANNOTATION]: 'reconcile', [TIMESTAMP_ANNOTATION]: new Date().toISOString() };
  for (const namespace of names) {
    await client.mergePatch(
      resources.extensions,
      { namespace, name: 'shoot-flux' },
      { metadata: { annotations } },
      write,
    );
  }
}

/** Creates Shoots in the garden, and what gardenlet creates for them in the seed. */
async function create(seed: BenchCluster, { objects }: ModelShoot, names: readonly string[]): Promise<void> {
  await createShoots(seed.client, names.map(inSeed), () => {});
  const own = objects.filter(({ object: { kind, metadata } }) => kind === 'Secret' && metadata.name === 'gardener');
  const clusters = objects.filter(({ object }) => object.kind === 'Cluster');
  await copyShoots(seed, { objects: [...own, ...clusters] }, names, () => {});
  for (const name of names) await seed.client.create(resources.extensions, extension(name), write);
}

if (import.meta.main) await main(process.argv.slice(2));
