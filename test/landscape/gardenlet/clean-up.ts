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

const LIMIT_MS = 600_000;

/**
 * Cleans the shoot as gardenlet does before it deletes the workers: CRDs, then workloads, except objects with the label
 * `shoot.gardener.cloud/no-cleanup=true` (rule 8).
 */
export async function cleanShoot(shoot: KubeClient, waits: Waits): Promise<void> {
  await cleanAll(shoot, waits, [resources.customResourceDefinitions]);
  await cleanAll(shoot, waits, workloads);
}

async function cleanAll(shoot: KubeClient, waits: Waits, kinds: Resource[]): Promise<void> {
  const left = async () => {
    const names: string[] = [];
    for (const kind of kinds) {
      const { items } = await shoot.list(kind);
      for (const item of items.filter(mayGo)) {
        names.push(`${kind.kind} ${item.metadata.name}`);
        if (item.metadata.deletionTimestamp !== undefined) continue;
        await shoot.delete(kind, item.metadata, { propagationPolicy: 'Background' });
      }
    }
    return names;
  };
  await waits.untilNone(kinds.map(({ plural }) => plural).join(', '), left, LIMIT_MS);
}

function mayGo({ metadata }: KubeObject): boolean {
  return metadata.labels?.['shoot.gardener.cloud/no-cleanup'] !== 'true';
}
