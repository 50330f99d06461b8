import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';

const kind = (group: string, plural: string, name: string): Resource => ({
  group,
  version: 'v1',
  plural,
  kind: name,
  namespaced: true,
});

/** What somebody would miss. */
const kinds: Resource[] = [
  kind('apps', 'deployments', 'Deployment'),
  kind('apps', 'statefulsets', 'StatefulSet'),
  kind('apps', 'daemonsets', 'DaemonSet'),
  kind('batch', 'jobs', 'Job'),
  kind('batch', 'cronjobs', 'CronJob'),
  kind('', 'pods', 'Pod'),
  kind('', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
  kind('', 'services', 'Service'),
  resources.secrets,
  resources.configMaps,
];

/** Kubernetes puts this one into every namespace. */
const ROOT_CA = 'kube-root-ca.crt';

/**
 * True when nothing is left in a namespace that somebody would miss: a workload that Flux has deployed there, the
 * record of a Helm release, the key with which a user's Secrets are decrypted.
 */
export async function isVacant(shoot: KubeClient, namespace: string): Promise<boolean> {
  const missed = await inParallel(kinds, async (resource) => {
    const { items } = await shoot.list(resource, { namespace, metadataOnly: true });
    return items.some((item) => isMissed(item));
  });
  return !missed.includes(true);
}

function isMissed({ kind, metadata }: KubeObject): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return !(kind === 'ConfigMap' && metadata.name === ROOT_CA);
}
