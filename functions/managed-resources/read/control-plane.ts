import {
  isOurManagedResource,
  legacyNames,
  listManagedResources,
  managedResourceNames,
  ourLabelSelector,
} from '../../../shared/gardener/managed-resource.ts';
import { unpackContent } from '../../../shared/gardener/managed-resource-content.ts';
import { managedResourceOf } from '../../../shared/gardener/read-objects.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, type ObjectName, resources } from '../../../shared/kube/resource.ts';
import { isNewsOfApplying } from '../news.ts';
import { isBootstrapped } from '../plan/scope.ts';
import type { Run } from '../run.ts';

const ourNames: string[] = Object.values(managedResourceNames);

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
export async function readControlPlane(run: Run): Promise<ControlPlane> {
  const { reporter, seed, namespace } = run;
  const extension = reporter.current();
  const previous = extension.status?.state?.applied;
  const known = { previous, isBootstrapped: isBootstrapped(extension) };
  if (previous !== undefined) {
    // One without its label cannot be lost: its content is only created (writeManagedResource).
    const recorded = isNewsOfApplying(run) ? [] : Object.keys(previous.managedResources);
    return { ...known, live: await readManagedResources(seed, namespace, recorded), legacy: [] };
  }
  // On a first run one request lists ours and those of the Go extension.
  const { items } = await seed.list(resources.managedResources, { namespace, metadataOnly: true });
  const there = items.map(({ metadata }) => metadata.name).filter((name) => ourNames.includes(name));
  return {
    ...known,
    live: there.length > 0 ? await readManagedResources(seed, namespace, there) : new Map(),
    legacy: items.filter((item) => legacyNames.includes(item.metadata.name)),
  };
}

/**
 * Reads our ManagedResources of a control plane, by name.
 * @param expected names of those that should be there: a user may have removed the label of one, and without it its
 * content would be replaced unseen
 */
export async function readManagedResources(
  seed: KubeClient,
  namespace: string,
  expected: string[],
): Promise<Map<string, ManagedResource>> {
  const items = await listManagedResources(seed, namespace);
  const found = new Map(items.map((item) => [item.metadata.name, item]));
  for (const name of expected.filter((one) => !found.has(one))) {
    const live = await findManagedResource(seed, { namespace, name });
    if (live !== undefined && isOurManagedResource(live)) found.set(name, live);
  }
  return found;
}

/** Reads one ManagedResource. */
export async function findManagedResource(seed: KubeClient, name: ObjectName): Promise<ManagedResource | undefined> {
  const found = await seed.find(resources.managedResources, name);
  return found && managedResourceOf(found);
}

/** Reads the objects that a ManagedResource holds; undefined: it names no Secret, or one that is gone or holds something else. */
export async function readContent({ seed, namespace }: Run, live: ManagedResource): Promise<KubeObject[] | undefined> {
  const name = contentNameOf(live);
  if (name === '') return undefined;
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

/**
 * Reads every ManagedResource that would block the deletion of the Shoot once the extension has left (rule 8): also
 * ours without the label, and the Go extension's where none of our reconciliations ran in between.
 */
export async function readRemainingManagedResources(seed: KubeClient, namespace: string): Promise<ManagedResource[]> {
  const { items } = await seed.list(resources.managedResources, { namespace, metadataOnly: true });
  const found: ManagedResource[] = [];
  const names = [...ourNames, ...legacyNames];
  for (const { metadata } of items.filter((item) => names.includes(item.metadata.name))) {
    const live = await findManagedResource(seed, metadata);
    if (live !== undefined && (legacyNames.includes(metadata.name) || isOurManagedResource(live))) found.push(live);
  }
  return found;
}
