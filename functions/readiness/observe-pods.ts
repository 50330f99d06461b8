import type { Applied } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { AnswerTooLargeError } from '../../shared/kube/errors.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import type { PullReport } from './controllers.ts';
import { pullReport } from './pull-sentence.ts';
import { pullFailureOf } from './pulls.ts';

const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

/** More Pods than these are none of Flux's alone. */
const MOST_PODS = 50;
const MOST_SECRETS = 3;
/** The owner of a shoot may write any text into a Pod. */
const NAME = /^[a-z0-9][a-z0-9.-]{0,252}$/;

/** Reads the Pods of controllers that do not become available, and which of their Secrets for pulling are missing. */
export async function observePods(
  shoot: KubeClient,
  applied: Applied,
  controllers: readonly string[],
): Promise<PullReport | undefined> {
  const { namespace } = applied;
  const found = await podsOf(shoot, namespace, controllers);
  const named = new Set(pullFailureOf(found)?.pullSecrets.filter((name) => NAME.test(name)));
  const missingSecrets: string[] = [];
  for (const name of [...named].slice(0, MOST_SECRETS)) {
    const secret = await shoot.find(resources.secrets, { namespace, name }, { metadataOnly: true });
    if (secret === undefined) missingSecrets.push(name);
  }
  return pullReport(applied, found, missingSecrets);
}

async function podsOf(shoot: KubeClient, namespace: string, controllers: readonly string[]): Promise<KubeObject[]> {
  const labelSelector = `app in (${controllers.join(',')})`;
  try {
    return (await shoot.list(pods, { namespace, labelSelector, limit: MOST_PODS })).items;
  } catch (error) {
    if (error instanceof AnswerTooLargeError) return [];
    throw error;
  }
}
