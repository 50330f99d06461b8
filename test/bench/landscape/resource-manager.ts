import type { Condition, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';

/** Sets the status of all ManagedResources of a control plane as the resource-manager does when everything is applied. */
export async function markApplied(seed: KubeClient, namespace: string): Promise<void> {
  const { items } = await seed.list<ManagedResource>(resources.managedResources, { namespace });
  for (const { metadata } of items) {
    const status = { observedGeneration: metadata.generation, conditions: [applied()] };
    await seed.mergePatch(
      resources.managedResources,
      metadata,
      { status },
      { fieldManager: 'bench', subresource: 'status' },
    );
  }
}

function applied(): Condition {
  const time = new Date().toISOString();
  return {
    type: 'ResourcesApplied',
    status: 'True',
    reason: 'ApplySucceeded',
    message: 'All resources are applied.',
    lastTransitionTime: time,
    lastUpdateTime: time,
  };
}
