import { setTimeout as sleep } from 'node:timers/promises';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { startResourceManager } from '@shoot-flux/landscape/resource-manager';
import type { Activity } from '../../infra/docs/cost/inputs.ts';
import { OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { startFastClock } from '../fast-clock.ts';
import type { Progress } from './bench.ts';
import type { StartApart } from './landscape/apart.ts';
import type { BenchCluster } from './landscape/bench-clusters.ts';
import { startEmbeddedClusters } from './landscape/embedded-clusters.ts';
import { keepReady } from './landscape/flux.ts';
import { edit } from './landscape/life-of-an-hour.ts';
import { copyShoots, type ModelShoot, modelShoot } from './landscape/model-shoot.ts';
import { controlPlane, extension, fluxConfig, namespace, PROJECT_NAMESPACE, SEED } from './landscape/objects.ts';
import { startOnKnative } from './landscape/on-knative.ts';
import { startOnSqs } from './landscape/on-sqs.ts';
import { countRequests } from './landscape/requests.ts';
import { createShoots } from './landscape/shoots.ts';
import { stampApplied } from './landscape/stamp.ts';

/** Whether the Shoots follow their configuration, or have released it. */
export type CostKind = 'followed' | 'released';

/** What is between watcher and functions. */
const transports = { sqs: startOnSqs, knative: startOnKnative };
export type CostTransport = keyof typeof transports;

/** The one message of the process to its parent. */
export interface CostReport {
  /** For each Shoot and hour. */
  atRest: Activity;
  /** For each Shoot and event, beyond what happens at rest. */
  edit: Activity;
  reconcile: Activity;
  create: Activity;
}

const SHOOTS = 5;
const CREATED = 2;
/** Time passes so many times faster while the process is idle. */
const FACTOR = 300;
const HOUR_MS = 3_600_000;
const REST_HOURS = 4;
const write = { fieldManager: 'bench' };
const names = Array.from({ length: SHOOTS }, (_, number) => controlPlane(number));
const created = Array.from({ length: CREATED }, (_, number) => controlPlane(SHOOTS + number));

/** Counts what Shoots of one kind cause at rest and after events, with one transport, while hours pass in minutes. */
async function main([kind = 'followed', transport = 'sqs']: string[]): Promise<void> {
  const progress: Progress = (text) => process.stderr.write(`  cost: ${kind}, ${transport}: ${text}\n`);
  const { seed, shoot, model } = await startShoots(kind === 'released' ? 'Once' : 'Reconcile');
  startFastClock(FACTOR);
  const { signal } = new AbortController();
  // Everything that the product writes is applied.
  for (const player of [stampApplied(seed.client, signal), keepReady(shoot.client, signal)]) player.catch(() => {});
  const { count, runs } = await startCounting(seed, shoot, transports[transport as CostTransport]);
  const during = async (hours: number, event: () => Promise<void> = async () => {}): Promise<Activity> => {
    const before = count();
    await event();
    await sleep(hours * HOUR_MS);
    return combined(count(), before, (now, then) => now - then);
  };

  await sleep(HOUR_MS);
  const rest = await during(REST_HOURS);
  const restOfHour = combined(rest, rest, (all) => all / REST_HOURS);
  progress(`after ${1 + REST_HOURS} h: ${JSON.stringify(runs)}`);
  await startResourceManager({
    ...{ source: seed.connection, target: shoot.connection, namespace: names[0] ?? '' },
    targetNamespaces: ['kube-system', 'flux-system'],
  });
  const beyondRest = async (shoots: number, event: () => Promise<void>): Promise<Activity> =>
    combined(await during(1, event), restOfHour, (all, atRest) => Math.max(0, all - atRest) / shoots);
  const report: CostReport = {
    atRest: combined(restOfHour, restOfHour, (all) => all / SHOOTS),
    edit: await beyondRest(SHOOTS, () => edit(seed, 'edited')),
    reconcile: await beyondRest(SHOOTS, () => reconcile(seed)),
    create: await beyondRest(CREATED, () => create(seed, model)),
  };
  progress(`in all: ${JSON.stringify(runs)}`);
  process.send?.(report);
  // The parent ends this process; until then the message may be on its way.
  process.once('disconnect', () => process.exit());
}

/** Starts clusters with Shoots at rest. */
async function startShoots(syncMode: string): Promise<{ seed: BenchCluster; shoot: BenchCluster; model: ModelShoot }> {
  const clusters = await startEmbeddedClusters({ shoot: true }, [...gardenCrds(), ...seedCrds()]);
  const { seed, shoot } = clusters;
  if (shoot === undefined) throw new Error('There is no shoot.');
  for (const name of [PROJECT_NAMESPACE, ...names, ...created]) {
    await seed.client.create(resources.namespaces, namespace(name), write);
  }
  await seed.client.create(resources.configMaps, fluxConfig(syncMode), write);
  // The model is the first of the Shoots.
  const model = await modelShoot(clusters, () => {});
  await copyShoots(seed, model, names.slice(1), () => {});
  await createShoots(seed.client, names.map(inSeed), () => {});
  return { seed, shoot, model };
}

/** Starts the product, and counts from now on. */
async function startCounting(seed: BenchCluster, shoot: BenchCluster, start: StartApart) {
  const runs: Record<string, number> = {};
  const log = createLog('info', (line) => {
    const { message, function: name, outcome } = JSON.parse(line);
    if (message !== 'reconcile finished') return;
    const ended = `${name} ${outcome}`;
    runs[ended] = (runs[ended] ?? 0) + 1;
  });
  const { requests } = countRequests();
  const shootHost = new URL(shoot.connection.server).host;
  const passed = await start(seed.connection, log);
  const count = (): Activity => {
    const by = { garden: 0, seed: 0, shoot: 0 };
    for (const { by: identity, host, text } of requests) {
      if (identity === 'watcher') continue;
      by[host === shootHost ? 'shoot' : text.includes(`/namespaces/${PROJECT_NAMESPACE}/`) ? 'garden' : 'seed']++;
    }
    const invocations = Object.values(runs).reduce((sum, ended) => sum + ended, 0);
    return { invocations, ...by, ...passed() };
  };
  return { count, runs };
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
async function reconcile({ client }: BenchCluster): Promise<void> {
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
async function create(seed: BenchCluster, { objects }: ModelShoot): Promise<void> {
  await createShoots(seed.client, created.map(inSeed), () => {});
  const own = objects.filter(({ object: { kind, metadata } }) => kind === 'Secret' && metadata.name === 'gardener');
  const clusters = objects.filter(({ object }) => object.kind === 'Cluster');
  await copyShoots(seed, { objects: [...own, ...clusters] }, created, () => {});
  for (const name of created) await seed.client.create(resources.extensions, extension(name), write);
}

if (import.meta.main) await main(process.argv.slice(2));
