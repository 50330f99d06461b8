import { RESOURCE_MANAGER } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { unlessGone } from './pages.ts';
import { fieldManager } from './write.ts';

/**
 * An update that changes nothing makes the API server ask the webhook again: it may have been away, or may not have
 * known of the namespace, when gardenlet wrote the Deployment.
 */
export async function askWebhookAgain(seed: KubeClient, namespace: string): Promise<void> {
  const name = { namespace, name: RESOURCE_MANAGER };
  await unlessGone(seed.mergePatch(resources.deployments, name, {}, { fieldManager }));
}
