import {
  isOurManagedResource,
  legacyNames,
  listManagedResources,
  managedResourceNames,
  ourLabelSelector,
} from '../../../shared/gardener/managed-resource.ts';
import { unpackContent } from '../../../shared/gardener/managed-resource-content.ts';
import { type Applied, type ManagedResource, ORIGIN, ORIGIN_LABEL } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { isBootstrapped } from '../plan/scope.ts';
import type { Run } from '../run.ts';

/** What a reconciliation begins with. */
export interface ControlPlane {
  /** The record of the run before; absent on a first run. */
  previous: Applied | undefined;
  isBootstrapped: boolean;
  /** Our ManagedResources by name. */
  live: Map<string, ManagedResource>;
  /** The ManagedResources of the Go extension. */
  legacy: KubeObject[];
}

/** Reads the record and the ManagedResources. */
export async function readControlPlane({ reporter, seed, namespace }: Run): Promise<ControlPlane> {
  const extension = reporter.current();
  const previous = extension.status?.state?.applied;
  const known = { previous, isBootstrapped: isBootstrapped(extension) };
  if (previous !== undefined) return { ...known, live: await readManagedResources(seed, namespace), legacy: [] };
  // On a first run one request lists ours and those of the Go extension.
  const { items } = await seed.list(resources.managedResources, { namespace, metadataOnly: true });
  const hasOurs = items.some((item) => item.metadata.labels?.[ORIGIN_LABEL] === ORIGIN);
  return {
    ...known,
    live: hasOurs ? await readManagedResources(seed, namespace) : new Map(),
    legacy: items.filter((item) => legacyNames.includes(item.metadata.name)),
  };
}

/** Reads our ManagedResources of a control plane, by name. */
export async function readManagedResources(seed: KubeClient, namespace: string): Promise<Map<string, ManagedResource>> {
  const items = await listManagedResources(seed, namespace);
  return new Map(items.map((item) => [item.metadata.name, item]));
}

/** Reads the objects that a ManagedResource holds; undefined: its Secret is gone, or holds something else. */
export async function readContent({ seed, namespace }: Run, live: ManagedResource): Promise<KubeObject[] | undefined> {
  const name = contentNameOf(live);
  const secret = await seed.find(resources.secrets, { namespace, name });
  return secret && unpackContent((secret.data ?? {}) as Record<string, string>);
}

/** The name of the Secret that a ManagedResource refers to. */
export function contentNameOf({ spec }: ManagedResource): string {
  return spec.secretRefs[0]?.name ?? '';
}

/** Reads the names of our content Secrets in a control plane, without their contents. */
export async function readSecretNames(seed: KubeClient, namespace: string): Promise<Set<string>> {
  const list = await seed.list(resources.secrets, { namespace, labelSelector: ourLabelSelector, metadataOnly: true });
  return new Set(list.items.map((item) => item.metadata.name));
}

const names: string[] = [...Object.values(managedResourceNames), ...legacyNames];

/**
 * Reads every ManagedResource that would block the deletion of the Shoot once the extension has left (rule 8): also
 * ours without the label, and the Go extension's where none of our reconciliations ran in between.
 */
export async function readRemainingManagedResources(seed: KubeClient, namespace: string): Promise<ManagedResource[]> {
  const { items } = await seed.list(resources.managedResources, { namespace, metadataOnly: true });
  const found: ManagedResource[] = [];
  for (const { metadata } of items.filter((item) => names.includes(item.metadata.name))) {
    const live = await seed.find<ManagedResource>(resources.managedResources, metadata);
    if (live !== undefined && (legacyNames.includes(metadata.name) || isOurManagedResource(live))) found.push(live);
  }
  return found;
}
