import type { KubeClient } from '../../../shared/kube/client.ts';
import type { ObjectMeta, Resource } from '../../../shared/kube/resource.ts';

const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

/** Neither Succeeded nor Failed: what was evicted does nothing any more. */
const alive = 'status.phase!=Succeeded,status.phase!=Failed';

/**
 * So long after it was told to end a controller takes nothing new into its hands. helm-controller goes on for up to ten
 * minutes with what it has begun, and on a node that is lost a Pod never ends.
 */
const LAST_WORK_SECONDS = 75;

/** True while a Pod of these Deployments may still take something into its hands. */
export async function anyAtWork(shoot: KubeClient, namespace: string, names: string[], now: Date): Promise<boolean> {
  if (names.length === 0) return false;
  const labelSelector = `app in (${names.join(',')})`;
  const { items } = await shoot.list(pods, { namespace, labelSelector, fieldSelector: alive, metadataOnly: true });
  return items.some(({ metadata }) => isAtWork(metadata, now));
}

/** Pure: `deletionTimestamp` is when it has to have ended, its grace period later than it was told. */
export function isAtWork({ deletionTimestamp, deletionGracePeriodSeconds = 0 }: ObjectMeta, now: Date): boolean {
  if (deletionTimestamp === undefined) return true;
  const told = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return now.getTime() < told + LAST_WORK_SECONDS * 1000;
}
