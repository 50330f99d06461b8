import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { startProduct } from '../../infra/process/product.ts';
import { managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import { resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { startFastClock } from '../fast-clock.ts';
import type { Progress } from './bench.ts';
import { startEmbeddedClusters } from './landscape/embedded-clusters.ts';
import { copyShoots, modelShoot } from './landscape/model-shoot.ts';
import { controlPlane, fluxConfig, namespace, PROJECT_NAMESPACE } from './landscape/objects.ts';
import { failedStatus } from './landscape/resource-manager.ts';
import { settings } from './landscape/run-function.ts';

/** A kind of Shoot, by what the product has to look after. */
export type ShootKind = 'followed' | 'released' | 'not applied' | 'not ready' | 'not reachable';

/** The one message of the process to its parent. */
export interface LooksReport {
  /** Runs of all functions for one Shoot in an hour, by their function. */
  perHour: Record<string, number>;
  /** Virtual hours that were counted. */
  hours: number;
}

const SHOOTS = 4;
/** Time passes so many times faster while the process is idle. */
const FACTOR = 500;
const HOUR_MS = 3_600_000;
/** The first hours hold the runs after the start, and failures grow old in them. */
const skippedHours = (kind: string) => (kind === 'followed' || kind === 'released' ? 1 : 24);
const COUNTED_HOURS = 6;
/**
 * No API server of this process hangs, so a run that fails for a time limit has waited for the processor: on a busy
 * machine the fast clock takes that for idle time. Such a run is repeated, and only the repetition counts.
 */
const TIME_LIMIT = /time limit|within [\d.]+ s\b/;
const progress: Progress = () => {};

/** Counts the runs for Shoots of one kind while a day and some hours pass in a few minutes. */
async function main([kind = 'followed']: string[]): Promise<void> {
  const crds = [...gardenCrds(), ...seedCrds()];
  await using clusters = await startEmbeddedClusters({ shoot: true }, crds);
  const { seed, shoot } = clusters;
  const write = { fieldManager: 'bench' };
  const names = Array.from({ length: SHOOTS }, (_, number) => controlPlane(1 + number));
  for (const name of [PROJECT_NAMESPACE, ...names]) {
    await seed.client.create(resources.namespaces, namespace(name), write);
  }
  const syncMode = kind === 'released' ? 'Once' : 'Reconcile';
  await seed.client.create(resources.configMaps, fluxConfig(syncMode), write);
  const { objects } = await modelShoot(clusters, progress);
  if (kind === 'not applied') {
    const sync = objects.find(({ object }) => object.metadata.name === managedResourceNames.sync)?.object;
    if (sync !== undefined) sync.status = failedStatus(sync.metadata.generation);
  }
  await copyShoots(seed, { objects }, names, progress);
  if (kind === 'not ready') await failSource(clusters);
  if (kind === 'not reachable') await makeUnreachable(clusters, names);

  startFastClock(FACTOR);
  const started = Date.now();
  const runs = new Map<string, number>();
  const log = createLog('info', (line) => {
    const { message, function: name = '', key = '', error = '' } = JSON.parse(line);
    if (message !== 'reconcile finished' || !names.some((own) => key.includes(`/${own}/`))) return;
    if (Date.now() - started < skippedHours(kind) * HOUR_MS || name === 'delay') return;
    if (TIME_LIMIT.test(error)) return;
    runs.set(name, (runs.get(name) ?? 0) + 1);
  });
  const product = await startProduct({ credentials: () => async () => seed.connection, settings, log });
  const end = started + (skippedHours(kind) + COUNTED_HOURS) * HOUR_MS;
  while (Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 60_000));
  await product.stop();
  const perHour = [...runs].map(([name, count]) => [name, count / SHOOTS / COUNTED_HOURS]);
  process.send?.({ perHour: Object.fromEntries(perHour), hours: COUNTED_HOURS } satisfies LooksReport);
  shoot?.client.close();
  process.exit();
}

type Clusters = Awaited<ReturnType<typeof startEmbeddedClusters>>;

/** Flux reports that it cannot fetch. */
async function failSource({ shoot }: Clusters): Promise<void> {
  const resource = {
    group: 'source.toolkit.fluxcd.io',
    version: 'v1',
    plural: 'gitrepositories',
    kind: 'GitRepository',
    namespaced: true,
  };
  const { items = [] } = (await shoot?.client.list(resource, { namespace: 'flux-system' })) ?? {};
  for (const { metadata } of items) {
    const message = 'failed to checkout and determine revision: unable to clone: repository not found';
    const lastTransitionTime = new Date().toISOString();
    const conditions = [{ type: 'Ready', status: 'False', reason: 'GitOperationFailed', message, lastTransitionTime }];
    const status = { observedGeneration: metadata.generation, conditions };
    await shoot?.client.mergePatch(resource, metadata, { status }, { fieldManager: 'bench', subresource: 'status' });
  }
}

/** Nothing listens at the address of the shoots. */
async function makeUnreachable({ seed, shoot }: Clusters, names: readonly string[]): Promise<void> {
  const text = (shoot?.kubeconfig ?? '').replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1');
  const data = { kubeconfig: Buffer.from(text).toString('base64') };
  for (const namespace of names) {
    await seed.client.mergePatch(
      resources.secrets,
      { namespace, name: 'gardener' },
      { data },
      { fieldManager: 'bench' },
    );
  }
}

if (import.meta.main) await main(process.argv.slice(2));
