import { setTimeout as sleep } from 'node:timers/promises';
import { unpackContent } from '../../../shared/gardener/managed-resource-content.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { GoneError } from '../../../shared/kube/errors.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';

/** Sets the status of all ManagedResources of a control plane as the resource-manager does when everything is applied. */
export async function markApplied(seed: KubeClient, namespace: string): Promise<void> {
  const { items } = await seed.list<ManagedResource>(resources.managedResources, { namespace });
  for (const resource of items) await markOneApplied(seed, resource);
}

async function markOneApplied(seed: KubeClient, { metadata, spec }: ManagedResource): Promise<void> {
  const { namespace = '', generation } = metadata;
  const secret = await seed.find(resources.secrets, { namespace, name: spec.secretRefs[0]?.name ?? '' });
  const objects = unpackContent((secret?.data ?? {}) as Record<string, string>) ?? [];
  const listed = objects.map(({ apiVersion, kind, metadata: { namespace, name } }) => ({
    ...{ apiVersion, kind, name },
    ...(namespace && { namespace }),
  }));
  const time = new Date().toISOString();
  const applied = { status: 'True', reason: 'ApplySucceeded', message: 'All resources are applied.' };
  const conditions = [{ type: 'ResourcesApplied', ...applied, lastTransitionTime: time, lastUpdateTime: time }];
  const status = { observedGeneration: generation, conditions, resources: listed };
  const write = { fieldManager: 'bench', subresource: 'status' as const };
  await seed.mergePatch(resources.managedResources, metadata, { status }, write);
}

/** Plays all resource-managers of a seed: reports every ManagedResource that changes as applied, until the signal. */
export async function stampApplied(seed: KubeClient, signal: AbortSignal): Promise<void> {
  const writes = new Set<Promise<unknown>>();
  const stamp = (resource: ManagedResource) => {
    const written = markOneApplied(seed, resource).catch(() => {});
    writes.add(written);
    void written.finally(() => writes.delete(written));
  };
  const { resourceVersion } = await seed.list(resources.managedResources, { limit: 1 });
  for await (const object of changes(seed, resources.managedResources, { resourceVersion, signal })) {
    const { metadata, status } = object as ManagedResource;
    if (status?.observedGeneration !== metadata.generation) stamp(object as ManagedResource);
  }
  await Promise.all(writes);
}

const PAUSE_MS = 100;

/**
 * Yields each object that is created or changed after the version, until the signal, whether watches end or break. When
 * the version is too old, yields all objects.
 */
async function* changes(
  client: KubeClient,
  resource: Resource,
  { signal, ...from }: { namespace?: string; resourceVersion: string; signal: AbortSignal },
): AsyncGenerator<KubeObject> {
  let { resourceVersion } = from;
  while (!signal.aborted) {
    try {
      const options = { ...from, resourceVersion, timeoutSeconds: 3600, signal };
      for await (const { type, object } of client.watch(resource, options)) {
        resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
        if (type === 'ADDED' || type === 'MODIFIED') yield object;
      }
    } catch (error) {
      if (signal.aborted) return;
      await sleep(PAUSE_MS);
      if (!(error instanceof GoneError)) continue;
      const list = await client.list(resource, from.namespace === undefined ? {} : { namespace: from.namespace });
      ({ resourceVersion } = list);
      yield* list.items;
    }
  }
}
