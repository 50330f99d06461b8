import { applyState } from '../../../shared/gardener/managed-resource.ts';
import { type ManagedResource, OPERATION_ANNOTATION, RESOURCE_MANAGER } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { unlessGone } from '../../../shared/kube/errors.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { rejectedNamespace } from '../plan/unknown-namespace.ts';
import { fieldManager } from '../release.ts';

/**
 * Asks the resource-manager to retry failing ManagedResources now: its own next attempt may be 15 minutes away, longer
 * than gardenlet waits, and the cause may be fixed in the shoot already. It rechecks a pending deletion every 5 s anyway.
 */
export async function retryApply(seed: KubeClient, live: ManagedResource[]): Promise<void> {
  const failing = live.filter((resource) => {
    const apply = applyState(resource);
    return apply.state === 'failing' && apply.reason !== 'DeletionPending';
  });
  for (const resource of failing) await applyAgain(seed, resource);
}

/** Asks the resource-manager to apply a ManagedResource now, although its content is the same. */
export async function applyAgain(seed: KubeClient, { metadata }: ManagedResource): Promise<void> {
  const patch = { metadata: { annotations: { [OPERATION_ANNOTATION]: 'reconcile' } } };
  await unlessGone(seed.mergePatch(resources.managedResources, metadata, patch, { fieldManager }));
}

/**
 * Makes the API server call our webhook again with an update that changes nothing, while the resource-manager may not
 * write into Flux's namespace: when gardenlet wrote the Deployment, the webhook may have been down, or may not have
 * known the namespace.
 */
export async function retryWebhook(
  seed: KubeClient,
  namespace: string,
  live: ReadonlyMap<string, ManagedResource>,
): Promise<void> {
  if (![...live.values()].some((resource) => rejectedNamespace(resource) !== undefined)) return;
  const name = { namespace, name: RESOURCE_MANAGER };
  await unlessGone(seed.mergePatch(resources.deployments, name, {}, { fieldManager }));
}
