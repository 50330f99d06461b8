import { setTimeout as sleep } from 'node:timers/promises';
import { ORIGIN, ORIGIN_LABEL, type Shoot } from '../../../shared/gardener/types.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import type { Progress } from '../bench.ts';
import { inParallel } from '../numbers.ts';
import type { BenchCluster, BenchClusters } from './clusters.ts';
import { startLiveShoot, untilBootstrapped } from './live-shoot.ts';
import { cluster, controlPlane, createProject, extension, PROJECT_NAMESPACE } from './objects.ts';

const write = { fieldManager: 'bench' };
/** All Deployments are there by then. */
const FLUX_SECONDS = 3;
/** After the first success the sync mode releases what it no longer follows. */
const SETTLED_MS = 5_000;

/** The objects of one control plane, in the order in which they are created. */
interface ModelShoot {
  objects: { resource: Resource; object: KubeObject }[];
}

/** Creates the project and, in these namespaces of the seed, Shoots at rest. */
export async function fillSeed(
  clusters: BenchClusters,
  syncMode: string,
  names: readonly string[],
  progress: Progress,
): Promise<ModelShoot> {
  await createProject(clusters.seed.client, syncMode);
  const model = await modelShoot(clusters, progress);
  await copyShoots(clusters.seed, model, names, progress);
  return model;
}

/**
 * Brings one Shoot to rest with the product itself, and returns its objects as a model for many: a run that finds a copy
 * of them has nothing to do.
 */
async function modelShoot(clusters: BenchClusters, progress: Progress): Promise<ModelShoot> {
  const name = controlPlane(0);
  const { client } = clusters.seed;
  await using live = await startLiveShoot(clusters, name, FLUX_SECONDS);
  await client.create(resources.clusters, cluster(name), write);
  await client.create(resources.extensions, extension(name), write);
  await untilBootstrapped(clusters.seed, name);
  await sleep(SETTLED_MS);
  const model = await modelOf(clusters.seed, name, live.access);
  progress(`one Shoot is at rest: ${model.objects.map(({ object }) => object.kind).join(', ')}`);
  return model;
}

async function modelOf({ client }: BenchCluster, name: string, access: KubeObject): Promise<ModelShoot> {
  const labelSelector = `${ORIGIN_LABEL}=${ORIGIN}`;
  const extension = await client.find(resources.extensions, { namespace: name, name: 'shoot-flux' });
  const owner = await client.find(resources.clusters, { name });
  const secrets = await client.list(resources.secrets, { namespace: name, labelSelector });
  const managed = await client.list(resources.managedResources, { namespace: name });
  if (extension === undefined || owner === undefined) throw new Error(`The control plane ${name} is gone.`);
  return {
    objects: [
      { resource: resources.clusters, object: owner },
      { resource: resources.secrets, object: access },
      ...secrets.items.map((object) => ({ resource: resources.secrets, object })),
      ...managed.items.map((object) => ({ resource: resources.managedResources, object })),
      { resource: resources.extensions, object: aDayAgo(extension) },
    ],
  };
}

/**
 * Returns the Extension as if everything had happened a day ago, gardenlet's request included: after a success, Flux is
 * checked more often at first.
 */
function aDayAgo(extension: KubeObject): KubeObject {
  const earlier = (_: string, value: unknown) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)
      ? new Date(Date.parse(value) - 86_400_000).toISOString().replace(/\.\d+/, '')
      : value;
  return JSON.parse(JSON.stringify(extension), earlier) as KubeObject;
}

/** Creates copies of a model in other control planes, several at a time. */
export async function copyShoots(
  { client }: BenchCluster,
  { objects }: ModelShoot,
  namespaces: readonly string[],
  progress: Progress,
): Promise<void> {
  const started = performance.now();
  await inParallel(namespaces, 16, async (name) => {
    for (const { resource, object } of objects) await copy(client, resource, object, name);
  });
  progress(`${namespaces.length} Shoots created in ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

async function copy(client: BenchCluster['client'], resource: Resource, object: KubeObject, name: string) {
  const { labels, annotations, finalizers } = object.metadata;
  const place = resource.namespaced ? { name: object.metadata.name, namespace: name } : { name };
  const { status, ...rest } = object;
  const metadata = {
    ...place,
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(finalizers && { finalizers }),
  };
  await client.create(resource, { ...rest, metadata } as KubeObject, write);
  if (status === undefined) return;
  await client.mergePatch(resource, place, { status }, { ...write, subresource: 'status' });
}

/** Fills a Shoot to the size that Gardener's Shoots have: managed fields, conditions, credentials and constraints. */
const PADDING = 'x'.repeat(12_000);

/** Creates the Shoots of a project in the garden, for `fan-out`. */
export async function createShoots(
  { client }: BenchCluster,
  controlPlanes: readonly { seed: string; namespace: string }[],
  progress: Progress,
): Promise<void> {
  const started = performance.now();
  await inParallel(controlPlanes, 16, async ({ seed, namespace }) => {
    const { spec, status } = cluster(namespace).spec.shoot;
    const name = namespace.replace(/^shoot--[^-]+--/, '');
    const shoot: KubeObject & Shoot = {
      apiVersion: 'core.gardener.cloud/v1beta1',
      kind: 'Shoot',
      metadata: { name, namespace: PROJECT_NAMESPACE, annotations: { padding: PADDING } },
      spec: { ...spec, seedName: seed },
      status: { ...status, technicalID: namespace, seedName: seed },
    };
    await client.create(resources.shoots, shoot, write);
  });
  progress(`${controlPlanes.length} Shoots in the garden after ${((performance.now() - started) / 1000).toFixed(0)} s`);
}
