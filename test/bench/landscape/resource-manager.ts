import type { Condition, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';

/** Sets the status of all ManagedResources of a control plane as the resource-manager does when everything is applied. */
export async function markApplied(seed: KubeClient, namespace: string): Promise<void> {
  const { items } = await seed.list<ManagedResource>(resources.managedResources, { namespace });
  for (const { metadata } of items) {
    await seed.mergePatch(
      resources.managedResources,
      metadata,
      { status: appliedStatus(metadata.generation) },
      { fieldManager: 'bench', subresource: 'status' },
    );
  }
}

/** Returns the status of a ManagedResource whose generation is applied. */
export function appliedStatus(generation: number | undefined): ManagedResource['status'] {
  return { ...(generation === undefined ? {} : { observedGeneration: generation }), conditions: [applied()] };
}

/** Returns the status of a ManagedResource that cannot be applied. */
export function failedStatus(generation: number | undefined): ManagedResource['status'] {
  const message = 'Could not apply all new resources: admission webhook "policy.example.com" denied the request';
  const conditions = [condition('False', 'ApplyFailed', message)];
  return { ...(generation === undefined ? {} : { observedGeneration: generation }), conditions };
}

function applied(): Condition {
  return condition('True', 'ApplySucceeded', 'All resources are applied.');
}

function condition(status: 'True' | 'False', reason: string, message: string): Condition {
  const time = new Date().toISOString();
  return { type: 'ResourcesApplied', status, reason, message, lastTransitionTime: time, lastUpdateTime: time };
}
