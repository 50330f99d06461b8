import type { KubeClient } from '../../../shared/kube/client.ts';
import type { ObjectMeta, Resource } from '../../../shared/kube/resource.ts';

const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

/** Neither Succeeded nor Failed: an evicted Pod does nothing any more. */
const alive = 'status.phase!=Succeeded,status.phase!=Failed';

/**
 * After this time, a controller that was asked to stop begins nothing new. helm-controller continues for up to ten
 * minutes with what it has begun, and on a lost node a Pod never ends.
 */
const LAST_WORK_SECONDS = 75;

/** More Pods than these are certainly none of Flux's alone. */
const MOST_PODS = 500;

/** True while a Pod of these Deployments may still begin a reconciliation. */
export async function isAnyAtWork(shoot: KubeClient, namespace: string, names: string[], now: Date): Promise<boolean> {
  if (names.length === 0) return false;
  const labelSelector = `app in (${names.join(',')})`;
  const options = { namespace, labelSelector, fieldSelector: alive, metadataOnly: true, limit: MOST_PODS };
  const { items, continue: more } = await shoot.list(pods, options);
  return more !== undefined || items.some(({ metadata }) => isAtWork(metadata, now));
}

/**
 * True while a Pod of these components may still begin a reconciliation, also one of their shards, whose names only the
 * configuration of its time knows.
 */
export async function isAnyComponentAtWork(
  shoot: KubeClient,
  namespace: string,
  components: readonly string[],
  now: Date,
): Promise<boolean> {
  let next: string | undefined;
  do {
    const options = { fieldSelector: alive, metadataOnly: true, limit: MOST_PODS, continue: next };
    const page = await shoot.list(pods, { namespace, labelSelector: 'app', ...options });
    const isOne = ({ labels }: ObjectMeta) => isOfComponent(labels?.app ?? '', components);
    if (page.items.some(({ metadata }) => isOne(metadata) && isAtWork(metadata, now))) return true;
    next = page.continue;
  } while (next !== undefined);
  return false;
}

/** True for the name of a component, and of one of its shards. */
export function isOfComponent(name: string, components: readonly string[]): boolean {
  return components.some((component) => name === component || name.startsWith(`${component}-`));
}

/** `deletionTimestamp` is the end of the grace period, which began when the Pod was asked to stop. */
export function isAtWork({ deletionTimestamp, deletionGracePeriodSeconds = 0 }: ObjectMeta, now: Date): boolean {
  if (deletionTimestamp === undefined) return true;
  const stopped = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return now.getTime() < stopped + LAST_WORK_SECONDS * 1000;
}
