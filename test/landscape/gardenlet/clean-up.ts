import { type KubeClient, type KubeObject, type Resource, resources } from '../client/client.ts';
import type { Waits } from './wait.ts';

const namespaced = (group: string, plural: string, kind: string, version = 'v1'): Resource => ({
  group,
  version,
  plural,
  kind,
  namespaced: true,
});

/** The kinds that gardenlet deletes before the workers. */
const workloads: Resource[] = [
  namespaced('apps', 'daemonsets', 'DaemonSet'),
  resources.deployments,
  namespaced('apps', 'statefulsets', 'StatefulSet'),
  namespaced('batch', 'cronjobs', 'CronJob'),
  namespaced('batch', 'jobs', 'Job'),
  namespaced('', 'pods', 'Pod'),
  namespaced('', 'services', 'Service'),
  namespaced('networking.k8s.io', 'ingresses', 'Ingress'),
];

export interface CleanUpTimes {
  /** After this time it strips finalizers. gardenlet: 1 h for CRDs, 5 min for workloads. */
  finalizeMs: number;
  limitMs: number;
}

/**
 * Cleans the shoot as gardenlet does before it deletes the workers: CRDs, then workloads, except objects with the label
 * `shoot.gardener.cloud/no-cleanup=true` (rule 8).
 */
export async function cleanShoot(shoot: KubeClient, waits: Waits, times: CleanUpTimes): Promise<void> {
  await cleanAll(shoot, waits, [resources.customResourceDefinitions], times);
  await cleanAll(shoot, waits, workloads, times);
}

async function cleanAll(shoot: KubeClient, waits: Waits, kinds: Resource[], times: CleanUpTimes): Promise<void> {
  const begun = Date.now();
  const left = async () => {
    const names: string[] = [];
    for (const kind of kinds) {
      const { items } = await shoot.list(kind);
      for (const item of items.filter(mayGo)) {
        names.push(`${kind.kind} ${item.metadata.name}`);
        await remove(shoot, kind, item, Date.now() - begun > times.finalizeMs);
      }
    }
    return names;
  };
  await waits.untilNone(kinds.map(({ plural }) => plural).join(', '), left, times.limitMs);
}

async function remove(shoot: KubeClient, kind: Resource, { metadata }: KubeObject, finalize: boolean): Promise<void> {
  if (metadata.deletionTimestamp === undefined) {
    await shoot.delete(kind, metadata, { propagationPolicy: 'Background' });
  } else if (finalize) {
    await shoot.mergePatch(kind, metadata, { metadata: { finalizers: null } }, { fieldManager: 'gardenlet' });
  }
}

/** `kubernetes` is the API's own Service. */
function mayGo({ kind, metadata }: KubeObject): boolean {
  if (kind === 'Service' && metadata.name === 'kubernetes' && metadata.namespace === 'default') return false;
  return metadata.labels?.['shoot.gardener.cloud/no-cleanup'] !== 'true';
}
