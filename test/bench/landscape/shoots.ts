import type { Shoot } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import type { Progress } from '../bench.ts';
import { inParallel } from '../numbers.ts';
import { cluster, PROJECT_NAMESPACE } from './objects.ts';

/** Fills a Shoot to the size that Gardener's Shoots have: managed fields, conditions, credentials and constraints. */
const PADDING = 'x'.repeat(12_000);

/** Creates the Shoots of a project in the garden, for `fan-out`. */
export async function createShoots(
  garden: KubeClient,
  controlPlanes: readonly { seed: string; namespace: string }[],
  progress: Progress,
): Promise<void> {
  const started = performance.now();
  const write = { fieldManager: 'bench' };
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
    await garden.create(resources.shoots, shoot, write);
  });
  progress(`${controlPlanes.length} Shoots in the garden after ${((performance.now() - started) / 1000).toFixed(0)} s`);
}
