import { setTimeout as sleep } from 'node:timers/promises';
import { startResourceManager } from '@shoot-flux/landscape/resource-manager';
import { startProduct } from '../../../infra/process/product.ts';
import { type Extension, ORIGIN, ORIGIN_LABEL } from '../../../shared/gardener/types.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { createLog } from '../../../shared/runtime/log.ts';
import type { Progress } from '../bench.ts';
import { inParallel } from '../numbers.ts';
import type { BenchCluster, BenchClusters } from './bench-clusters.ts';
import { playFlux } from './flux.ts';
import { cluster, controlPlane, createProject, extension, namespace } from './objects.ts';
import { settings } from './run-function.ts';

const write = { fieldManager: 'bench' };
const GIVE_UP_MS = 120_000;
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
 * Brings one Shoot to rest with the product itself, the landscape's resource-manager and a simulated Flux, and returns
 * its objects as a model for many: a run that finds a copy of them has nothing to do.
 */
async function modelShoot({ seed, shoot }: BenchClusters, progress: Progress): Promise<ModelShoot> {
  if (shoot === undefined) throw new Error('There is no shoot.');
  const name = controlPlane(0);
  await seed.client.create(resources.namespaces, namespace(name), write).catch(() => {});
  const kubeconfig = Buffer.from(shoot.kubeconfig).toString('base64');
  const access = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'gardener', namespace: name },
    data: { kubeconfig },
  };
  await seed.client.create(resources.secrets, access, write);
  const stopping = new AbortController();
  const manager = await startResourceManager({
    source: seed.connection,
    target: shoot.connection,
    namespace: name,
    targetNamespaces: ['kube-system', 'flux-system'],
  });
  const product = await startProduct({
    credentials: () => async () => seed.connection,
    settings,
    log: createLog('error'),
  });
  const flux = playFlux(shoot.client, FLUX_SECONDS, stopping.signal);
  flux.catch(() => {});
  try {
    await seed.client.create(resources.clusters, cluster(name), write);
    await seed.client.create(resources.extensions, extension(name), write);
    await untilBootstrapped(seed, name);
    await sleep(SETTLED_MS);
    const model = await modelOf(seed, name, access);
    progress(`one Shoot is at rest: ${model.objects.map(({ object }) => object.kind).join(', ')}`);
    return model;
  } finally {
    stopping.abort();
    await product.stop();
    await manager.stop();
  }
}

async function untilBootstrapped({ client }: BenchCluster, name: string): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  for (;;) {
    const found = await client.find<Extension>(resources.extensions, { namespace: name, name: 'shoot-flux' });
    if (found?.status?.state?.bootstrapped !== undefined) return;
    if (performance.now() > deadline)
      throw new Error(`The Shoot was not Ready: ${found?.status?.lastError?.description}`);
    await sleep(100);
  }
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
