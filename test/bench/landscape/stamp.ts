import { type Connection, createKubeClient } from '@shoot-flux/landscape/client';
import { startInformer } from '@shoot-flux/landscape/controllers';
import { unpackContent } from '../../../shared/gardener/managed-resource.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';

type Writer = Pick<KubeClient, 'find' | 'mergePatch'>;

/** Sets the status of all ManagedResources of a control plane as the resource-manager does when everything is applied. */
export async function markApplied(seed: KubeClient, namespace: string): Promise<void> {
  const { items } = await seed.list<ManagedResource>(resources.managedResources, { namespace });
  for (const resource of items) await markOneApplied(seed, resource);
}

async function markOneApplied(seed: Writer, { metadata, spec }: ManagedResource): Promise<void> {
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
export async function stampApplied(connection: Connection, signal: AbortSignal): Promise<void> {
  const client = createKubeClient(connection, { userAgent: 'bench', timeoutMs: 60_000 });
  const writes = new Set<Promise<unknown>>();
  const onChange = (resource: ManagedResource) => {
    if (resource.status?.observedGeneration === resource.metadata.generation) return;
    const written = markOneApplied(client, resource).catch(() => {});
    writes.add(written);
    void written.finally(() => writes.delete(written));
  };
  await startInformer<ManagedResource>(client, resources.managedResources, { signal }, { onChange }).stopped;
  await Promise.all(writes);
  client.close();
}
