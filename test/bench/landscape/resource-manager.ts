import { unpackContent } from '../../../shared/gardener/managed-resource-content.ts';
import type { Condition, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';

/** Sets the status of all ManagedResources of a control plane as the resource-manager does when everything is applied. */
export async function markApplied(seed: KubeClient, namespace: string): Promise<void> {
  const { items } = await seed.list<ManagedResource>(resources.managedResources, { namespace });
  for (const resource of items) await markOneApplied(seed, resource);
}

/** The same for one of them. */
export async function markOneApplied(seed: KubeClient, { metadata, spec }: ManagedResource): Promise<void> {
  const { namespace } = metadata;
  const name = spec.secretRefs[0]?.name ?? '';
  const secret = await seed.find(resources.secrets, { ...(namespace && { namespace }), name });
  const objects = unpackContent((secret?.data ?? {}) as Record<string, string>) ?? [];
  await seed.mergePatch(
    resources.managedResources,
    metadata,
    { status: { ...appliedStatus(metadata.generation), resources: objects.map(listed) } },
    { fieldManager: 'bench', subresource: 'status' },
  );
}

function listed({ apiVersion, kind, metadata: { namespace, name } }: KubeObject) {
  return { apiVersion, kind, name, ...(namespace && { namespace }) };
}

function appliedStatus(generation: number | undefined): ManagedResource['status'] {
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
