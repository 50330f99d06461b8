import { setTimeout as sleep } from 'node:timers/promises';
import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import { type ManagedResource, OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from '../../../shared/gardener/types.ts';
import { resources } from '../../../shared/kube/resource.ts';
import type { Progress } from '../bench.ts';
import { inParallel } from '../numbers.ts';
import type { BenchCluster } from './bench-clusters.ts';
import { copyShoots, type ModelShoot } from './model-shoot.ts';
import { PROJECT_NAMESPACE } from './objects.ts';
import { createShoots } from './shoots.ts';

const write = { fieldManager: 'gardenlet' };
const MINUTE_MS = 60_000;

/** What changes in an hour, while the product cannot reach one of its seeds. */
export interface HourOfLife {
  /** Garden and healthy seed. */
  seed: BenchCluster;
  /** The seed that the product does not reach. */
  lost: BenchCluster;
  lostSeed: string;
  /** What a new Shoot consists of before the product has seen it. */
  newShoot: ModelShoot;
  /** Shoots that stay, that are created and that are deleted; all of them in the lost seed. */
  stay: readonly string[];
  created: readonly string[];
  deleted: readonly string[];
  progress: Progress;
}

/** How often `flux-config` is edited, and after which edit Shoots are created and deleted. */
const EDITS = 5;
const EVERY_MS = 10 * MINUTE_MS;
const REPLACES_AT = 3;

/** Lives an hour, but for its last minute. */
export async function liveAnHour(life: HourOfLife): Promise<void> {
  for (let number = 1; number <= EDITS; number++) {
    await sleep(EVERY_MS);
    await edit(life.seed, `edit-${number}`);
    if (number % 2 === 0) await gardenletReconciles(life, number);
    if (number === REPLACES_AT) await replaceShoots(life);
    life.progress(`${(number * EVERY_MS) / MINUTE_MS} min: flux-config edited`);
  }
  await sleep(60 * MINUTE_MS - EDITS * EVERY_MS - MINUTE_MS);
}

/** The owner edits the configuration. */
export async function edit({ client }: BenchCluster, repositoryBranch: string): Promise<void> {
  const name = { namespace: PROJECT_NAMESPACE, name: 'flux-config' };
  await client.mergePatch(resources.configMaps, name, { data: { repositoryBranch } }, write);
}

/** Gardenlet, which is in the seed and not cut off, writes every Cluster and asks for a reconciliation of every Shoot. */
async function gardenletReconciles({ lost, stay }: HourOfLife, number: number): Promise<void> {
  const annotations = { [OPERATION_ANNOTATION]: 'reconcile', [TIMESTAMP_ANNOTATION]: new Date().toISOString() };
  await inParallel(stay, 4, async (namespace) => {
    const spec = { shoot: { spec: { purpose: `${number}` } } };
    await lost.client.mergePatch(resources.clusters, { name: namespace }, { spec }, write);
    const extension = { namespace, name: 'shoot-flux' };
    await lost.client.mergePatch(resources.extensions, extension, { metadata: { annotations } }, write);
  });
}

/** Some Shoots are created, and as many are force-deleted: gardenlet waits for nothing then. */
async function replaceShoots({ seed, lost, lostSeed, newShoot, created, deleted, progress }: HourOfLife) {
  await createShoots(
    seed.client,
    created.map((namespace) => ({ seed: lostSeed, namespace })),
    progress,
  );
  await copyShoots(lost, newShoot, created, progress);
  await inParallel(deleted, 4, async (namespace) => {
    const inGarden = { namespace: PROJECT_NAMESPACE, name: namespace.replace(/^shoot--[^-]+--/, '') };
    await seed.client.delete(resources.shoots, inGarden);
    await remove(lost, namespace);
  });
}

async function remove({ client }: BenchCluster, namespace: string): Promise<void> {
  for (const resource of [resources.extensions, resources.managedResources, resources.secrets]) {
    for (const { metadata } of (await client.list(resource, { namespace })).items) {
      if (metadata.finalizers !== undefined)
        await client.mergePatch(resource, metadata, { metadata: { finalizers: null } }, write);
      await client.delete(resource, metadata);
    }
  }
  await client.delete(resources.clusters, { name: namespace });
}

/** Returns the name of the Secret with the source of a Shoot, which is a hash of the content. */
export async function sourceOf({ client }: BenchCluster, namespace: string): Promise<string | undefined> {
  const name = { namespace, name: managedResourceNames.sync };
  return (await client.find<ManagedResource>(resources.managedResources, name))?.spec.secretRefs[0]?.name;
}

/** Resolves when the source of each of these Shoots is this Secret. */
export async function untilSource({ client }: BenchCluster, namespaces: readonly string[], secret: string | undefined) {
  const missing = new Set(namespaces);
  const seen = ({ metadata, spec }: ManagedResource) => {
    if (spec.secretRefs[0]?.name === secret) missing.delete(metadata.namespace ?? '');
  };
  const fieldSelector = `metadata.name=${managedResourceNames.sync}`;
  const { items, resourceVersion } = await client.list<ManagedResource>(resources.managedResources, { fieldSelector });
  items.forEach(seen);
  if (missing.size === 0) return;
  const signal = AbortSignal.timeout(10 * MINUTE_MS);
  const options = { resourceVersion, fieldSelector, timeoutSeconds: 3600, signal };
  for await (const { type, object } of client.watch(resources.managedResources, options)) {
    if (type === 'ADDED' || type === 'MODIFIED') seen(object as ManagedResource);
    if (missing.size === 0) return;
  }
  throw new Error(`${missing.size} Shoots did not get the last edit.`);
}
