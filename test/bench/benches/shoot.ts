import { setTimeout as sleep } from 'node:timers/promises';
import { handler } from '../../../functions/managed-resources/handler.ts';
import { handler as syncMode } from '../../../functions/sync-mode/handler.ts';
import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import { distributionAt } from '../../../shared/flux/distribution.ts';
import { objectGroups } from '../../../shared/gardener/groups.ts';
import { contentSecret } from '../../../shared/gardener/managed-resource.ts';
import { shootFacts } from '../../../shared/gardener/shoot-facts.ts';
import { type Extension, OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import type { Cause } from '../../../shared/runtime/change-request.ts';
import { secretWith } from '../../shoot-secrets.ts';
import { bench, type Progress } from '../bench.ts';
import { type BenchClusters, startClusters } from '../landscape/clusters.ts';
import { fluxDistribution } from '../landscape/flux-distribution.ts';
import { createControlPlane, startLiveShoot, untilBootstrapped } from '../landscape/live-shoot.ts';
import { PER_SHOOT, watchArrivals } from '../landscape/managed-resources.ts';
import {
  cluster,
  controlPlane,
  createProject,
  extension,
  fluxConfig,
  namespace,
  PROJECT_NAMESPACE,
  SEED,
} from '../landscape/objects.ts';
import { startProductProcess } from '../landscape/product-process.ts';
import { countRequests, runFunction, type SeenRequest } from '../landscape/run-function.ts';
import { markApplied } from '../landscape/stamp.ts';
import { median } from '../numbers.ts';

const write = { fieldManager: 'bench' };

/** The warm-up runs are discarded. */
const WARM_UP = 5;
const WARM_RUNS = 20;

/** One Shoot: how soon it has what its configuration says, and what that takes. */
export const shootBench = bench(
  'shoot',
  {
    warm: { what: 'change written until ManagedResources are written, warm', unit: 'ms', atMost: 100 },
    first: { what: 'API requests of managed-resources: first run', unit: 'requests', atMost: 16 },
    closing: { what: 'API requests of managed-resources: closing run', unit: 'requests', atMost: 6 },
    unchanged: {
      what: 'API requests of managed-resources: reconciliation that changes nothing',
      unit: 'requests',
      atMost: 8,
    },
    perSecret: { what: '… and for each referenced Secret', unit: 'requests', atMost: 1 },
    requests: { what: 'API requests of all functions until a new Shoot is Ready', unit: 'requests', atMost: 60 },
    secrets: { what: 'ManagedResource Secrets per Shoot, all four components', unit: 'KB', atMost: 30 },
  },
  async (progress) => ({
    ...(await latency(progress)),
    ...(await requests(progress)),
    ...(await untilReady(progress)),
    ...(await content()),
  }),
);

/**
 * One Extension at a time, from the request that creates it until all of its ManagedResources have been seen. Watcher,
 * queue and functions run in one process (`shoot-flux run`), the API server in another. The process has done the same
 * for other Shoots before.
 */
async function latency(progress: Progress) {
  await using clusters = await startClusters();
  const { client, kubeconfigFile } = clusters.seed;
  await createProject(client, 'Once');
  await using _product = await startProductProcess(kubeconfigFile);
  const milliseconds: number[] = [];
  for (let number = 0; number < WARM_UP + WARM_RUNS; number++)
    milliseconds.push(await oneExtension(client, controlPlane(number)));
  const warm = milliseconds.slice(WARM_UP);
  progress(`warm: ${warm.map((value) => value.toFixed(0)).join(' ')} ms`);
  return { warm: { value: median(warm), note: `median of ${warm.length}` } };
}

async function oneExtension(client: KubeClient, name: string): Promise<number> {
  await client.create(resources.namespaces, namespace(name), write);
  const arrivals = await watchArrivals(client);
  await client.create(resources.clusters, cluster(name), write);
  await quiet();
  const arrived = arrivals.until(PER_SHOOT);
  const started = performance.now();
  await client.create(resources.extensions, extension(name), write);
  const ended = await arrived;
  arrivals.stop();
  await quiet();
  return ended - started;
}

/** Waits until everything that the last change has triggered is over. */
function quiet(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 200));
}

/** Number of Secrets that the Shoot of the last line references. */
const SECRETS = 3;

/**
 * Runs only managed-resources, one run after the other, for a Shoot with a public repository; the resource-manager is
 * represented by its status on the ManagedResources. The result does not depend on time or chance.
 */
async function requests(progress: Progress) {
  await using clusters = await startClusters({ shoot: true });
  const { client } = clusters.seed;
  await client.create(resources.namespaces, namespace(PROJECT_NAMESPACE), write);
  const runs = new Map<string, ShootRequests>();
  for (const [number, mode] of ['Once', 'ManifestsOnly', 'Reconcile'].entries()) {
    await client.apply(resources.configMaps, fluxConfig(mode), write);
    const shoot = await runShoot(controlPlane(number), clusters);
    progress(`${mode}: ${shoot.first.length}, ${shoot.closing.length}, ${shoot.unchanged.length} requests`);
    runs.set(mode, shoot);
  }
  const withSecrets = await runShoot(controlPlane(9), clusters, SECRETS);
  const most = (which: keyof ShootRequests) => Math.max(...[...runs.values()].map((shoot) => shoot[which].length));
  const reconcile = runs.get('Reconcile')?.unchanged.length ?? Number.NaN;
  return {
    first: { value: most('first') },
    closing: { value: most('closing') },
    unchanged: { value: most('unchanged'), note: 'maximum of the three sync modes' },
    perSecret: { value: (withSecrets.unchanged.length - reconcile) / SECRETS },
  };
}

/** The requests of the three runs for one Shoot. */
interface ShootRequests {
  first: SeenRequest[];
  closing: SeenRequest[];
  unchanged: SeenRequest[];
}

async function runShoot(name: string, clusters: BenchClusters, secrets = 0): Promise<ShootRequests> {
  const { client } = clusters.seed;
  await createControlPlane(clusters, name);
  const references = Array.from({ length: secrets }, (_, number) => `reference-${number}`);
  for (const reference of references) {
    await client.create(resources.secrets, secretWith(name, `ref-${reference}`, {}), write);
  }
  await client.create(resources.clusters, cluster(name, references), write);
  await client.create(resources.extensions, extension(name, providerConfig(references)), write);

  const run = (...causes: Cause[]) => runFunction('managed-resources', handler, name, clusters, causes);
  const first = await run();
  await markApplied(client, name);
  // Source and Kustomization follow what they need.
  await run(applied);
  await markApplied(client, name);
  const closing = await run(applied);
  await becomeReady(name, clusters);
  // The mode now releases its objects, and the resource-manager would follow.
  await run();
  await markApplied(client, name);
  await run();

  // Later than what was reported last, or the report would hold for this operation too.
  const timestamp = new Date(Date.now() + 2000).toISOString();
  const metadata = { annotations: { [OPERATION_ANNOTATION]: 'reconcile', [TIMESTAMP_ANNOTATION]: timestamp } };
  await client.mergePatch(resources.extensions, { namespace: name, name: 'shoot-flux' }, { metadata }, write);
  return { first, closing, unchanged: await run() };
}

/** The resource-manager has applied one. */
const applied: Cause = {
  ...{ type: 'object', cluster: SEED, kind: 'ManagedResource', name: 'shoot-flux-sync' },
  ...{ uid: 'any', resourceVersion: 'any' },
};

function providerConfig(references: readonly string[]): unknown {
  if (references.length === 0) return undefined;
  return {
    apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
    kind: 'FluxConfig',
    additionalSecretResources: references.map((reference) => ({ name: reference })),
  };
}

/** What readiness would find in the shoot, and sync-mode's record of it. */
async function becomeReady(name: string, clusters: BenchClusters): Promise<void> {
  const { client } = clusters.seed;
  const key = { namespace: name, name: 'shoot-flux' };
  const found = await client.find<Extension>(resources.extensions, key);
  const configHash = found?.status?.state?.applied?.configHash;
  const status = { providerStatus: { flux: { configHash, ready: true } } };
  await client.mergePatch(resources.extensions, key, { status }, { ...write, subresource: 'status' });
  await runFunction('sync-mode', syncMode, name, clusters);
  const after = await client.find<Extension>(resources.extensions, key);
  if (after?.status?.state?.bootstrapped === undefined)
    throw new Error(`The first success of ${name} was not recorded.`);
}

/** Time from applied to Ready: Flux pulls images, clones the repository and applies its content. */
const FLUX_SECONDS = 10;

/**
 * The whole product in this process with a seed and a shoot, the landscape's resource-manager between them, and a
 * simulated Flux in the shoot. Counts the requests of all functions to any API server, without the watcher's lists and
 * watches, until the first success is recorded.
 */
async function untilReady(progress: Progress) {
  await using clusters = await startClusters({ shoot: true });
  const { client } = clusters.seed;
  const name = controlPlane(1);
  await createProject(client, 'Once');
  await using live = await startLiveShoot(clusters, name, FLUX_SECONDS);
  while (!live.product.watcher.ready()) await sleep(20);
  // The first lists trigger runs that do not belong to the new Shoot.
  await sleep(500);
  using counter = countRequests();
  await client.create(resources.clusters, cluster(name), write);
  await sleep(500);
  await client.create(resources.extensions, extension(name), write);
  await untilBootstrapped(clusters.seed, name);
  const requests = untilRecorded(counter.requests.filter(({ by }) => by !== 'watcher'));
  const counts = Map.groupBy(requests, ({ by }) => by);
  progress([...counts].map(([by, { length }]) => `${by} ${length}`).join(', '));
  const note = `Flux is Ready ${FLUX_SECONDS} s after it is applied`;
  return { requests: { value: requests.length, note } };
}

/** Drops the requests after the record: the Shoot is Ready by then. */
function untilRecorded(requests: readonly SeenRequest[]): SeenRequest[] {
  const record = requests.findIndex(({ by, text }) => by === 'sync-mode' && text.startsWith('PATCH'));
  return requests.slice(0, record + 1);
}

/** The content that a seed's etcd stores for one Shoot: the Secrets' data in bytes, without base64 and metadata. */
async function content() {
  const distribution = distributionAt(fluxDistribution);
  const sizes = new Map<string, number>();
  for (const version of await distribution.versions()) sizes.set(version, await contentKb(version));
  const [newest = ['', 0]] = sizes;
  const largest = [...sizes].reduce((one, other) => (other[1] > one[1] ? other : one), newest);
  return {
    secrets: {
      value: newest[1],
      note: `${newest[0]}; the largest of ${sizes.size} releases is ${largest[0]} with ${largest[1].toFixed(1)} KB`,
    },
  };
}

async function contentKb(version: string): Promise<number> {
  const data = fluxConfig('Once').data as Record<string, string>;
  const namespace = controlPlane(1);
  const groups = await objectGroups({
    config: effectiveConfig({ fluxConfig: { namespace: PROJECT_NAMESPACE, data } }),
    release: await distributionAt(fluxDistribution).release(version),
    shoot: shootFacts(cluster(namespace), {}),
    secrets: [],
    configMaps: [],
    ownsNamespace: true,
    shootHealth: false,
  });
  const secrets = Object.values(groups).map((objects) => contentSecret(namespace, 'shoot-flux', objects));
  const contents = await Promise.all(secrets);
  return contents.reduce((sum, { data }) => sum + decodedBytes(data as Record<string, string>), 0) / 1000;
}

function decodedBytes(data: Record<string, string>): number {
  return Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value, 'base64'), 0);
}
