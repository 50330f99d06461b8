import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { startResourceManager } from '@shoot-flux/landscape/resource-manager';
import { resources } from '../../../shared/kube/resource.ts';
import type { Progress } from '../bench.ts';
import type { BenchCluster, BenchClusters } from './bench-clusters.ts';
import { startEmbeddedClusters } from './embedded-clusters.ts';
import { keepReady } from './flux.ts';
import { copyShoots, type ModelShoot, modelShoot } from './model-shoot.ts';
import { controlPlane, fluxConfig, namespace, PROJECT_NAMESPACE, SEED } from './objects.ts';
import { createShoots } from './shoots.ts';
import { stampApplied } from './stamp.ts';

/** The name under which the second seed is served. */
export const OTHER_SEED = 'other';

/** The control planes of a bench; all but the healthy ones are in the second seed. */
export interface ControlPlanes {
  healthy: readonly string[];
  stay: readonly string[];
  /** Exist from the start and are deleted later. */
  deleted: readonly string[];
  /** Are created later; only their namespaces exist. */
  created: readonly string[];
}

/** Two seeds of one project whose Shoots follow its configuration, and a shoot that is the shoot of all of them. */
export interface TwoSeeds {
  clusters: BenchClusters;
  seed: BenchCluster;
  otherSeed: BenchCluster;
  shoot: BenchCluster;
  /** What gardenlet creates for a new Shoot. */
  newShoot: ModelShoot;
}

const write = { fieldManager: 'bench' };
const names = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => controlPlane(first + index));

/** Names so many control planes. */
export function controlPlanes({ healthy, stay, replaced }: Record<'healthy' | 'stay' | 'replaced', number>) {
  return {
    healthy: names(1, healthy),
    stay: names(1000, stay),
    deleted: names(2000, replaced),
    created: names(3000, replaced),
  } satisfies ControlPlanes;
}

/** Starts embedded API servers in this process, so that they share its clock, and fills them. */
export async function startTwoSeeds(
  { healthy, stay, deleted, created }: ControlPlanes,
  progress: Progress,
): Promise<TwoSeeds> {
  const clusters = await startEmbeddedClusters({ shoot: true, otherSeed: true }, [...gardenCrds(), ...seedCrds()]);
  const { seed, otherSeed, shoot } = clusters;
  if (otherSeed === undefined || shoot === undefined) throw new Error('A cluster is missing.');
  const inOther = [...stay, ...deleted];
  await createNamespaces(seed, [PROJECT_NAMESPACE, ...healthy]);
  await createNamespaces(otherSeed, [...inOther, ...created]);
  await seed.client.create(resources.configMaps, fluxConfig('Reconcile'), write);
  const model = await modelShoot(clusters, progress);
  await copyShoots(seed, model, healthy, progress);
  await copyShoots(otherSeed, model, inOther, progress);
  const at = (seedName: string) => (name: string) => ({ seed: seedName, namespace: name });
  await createShoots(seed.client, [...healthy.map(at(SEED)), ...inOther.map(at(OTHER_SEED))], progress);
  return { clusters, seed, otherSeed, shoot, newShoot: { objects: model.objects.filter(isGardenlets) } };
}

/** Plays the resource-managers and Flux until the signal: whatever the product writes is applied and becomes Ready. */
export async function playShoots({ seed, otherSeed, shoot }: TwoSeeds, applies: string, signal: AbortSignal) {
  const manager = await startResourceManager({
    ...{ source: seed.connection, target: shoot.connection, namespace: applies },
    targetNamespaces: ['kube-system', 'flux-system'],
  });
  const players = [seed, otherSeed].map(({ client }) => stampApplied(client, signal));
  players.push(keepReady(shoot.client, signal));
  await Promise.all(players);
  await manager.stop();
}

async function createNamespaces({ client }: BenchCluster, all: readonly string[]): Promise<void> {
  for (const name of all) await client.create(resources.namespaces, namespace(name), write);
}

/** True for what exists before the product has seen a Shoot. */
function isGardenlets({ object: { kind, metadata } }: ModelShoot['objects'][number]): boolean {
  return ['Cluster', 'Extension'].includes(kind) || metadata.name === 'gardener';
}
