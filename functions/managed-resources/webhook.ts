import { RESOURCE_MANAGER } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { NotFoundError } from '../../shared/kube/errors.ts';
import { resources } from '../../shared/kube/resource.ts';
import { fieldManager } from './write.ts';

/**
 * An update that changes nothing makes the API server ask the webhook again: it may have been away, or may not have
 * known of the namespace, when gardenlet wrote the Deployment.
 */
export async function askWebhookAgain(seed: KubeClient, namespace: string): Promise<void> {
  try {
    await seed.mergePatch(resources.deployments, { namespace, name: RESOURCE_MANAGER }, {}, { fieldManager });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
}
