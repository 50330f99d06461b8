import {
  applyState,
  isOurManagedResource,
  legacyNames,
  listManagedResources,
  MONITORING,
  managedResourceNames,
  ourLabelSelector,
  rejectedNamespace,
  unpackContent,
} from '../../../shared/gardener/managed-resource.ts';
import { extensionOf, managedResourceOf } from '../../../shared/gardener/read-objects.ts';
import {
  type Applied,
  type ManagedResource,
  OPERATION_ANNOTATION,
  RESOURCE_MANAGER,
} from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { unlessGone } from '../../../shared/kube/errors.ts';
import { type KubeObject, type ObjectName, resources } from '../../../shared/kube/resource.ts';
import { isBootstrapped } from '../plan/scope.ts';
import { isWokenByApplying, type Run } from '../run.ts';

const ourNames: string[] = [...Object.values(managedResourceNames), MONITORING];

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
    const recorded = isWokenByApplying(run) ? [] : Object.keys(previous.managedResources);
    return { ...known, live: await readManagedResources(seed, namespace, recorded), legacy: [] };
  }
  // On a first run one request lists ours and those of the Go extension.
  const { items } = await seed.list(resources.managedResources, { namespace, metadataOnly: true });
  const there = items.map(({ metadata }) => metadata.name).filter((name) => ourNames.includes(name));
  const live = there.length > 0 ? await readManagedResources(seed, namespace, there) : new Map();
  return { ...known, live, legacy: items.filter(({ metadata }) => legacyNames.includes(metadata.name)) };
}

/** Reads the record as it is now: another run may have overtaken this one. */
export async function readRecord({ seed, reporter }: Run): Promise<Applied | undefined> {
  const extension = await seed.find(resources.extensions, reporter.current().metadata);
  return extension && extensionOf(extension).status?.state?.applied;
}

/**
 * Reads our ManagedResources of a control plane, by name.
 * @param expected names: unseen, the content of one whose label a user has removed would be replaced
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
  const secret = name === '' ? undefined : await seed.find(resources.secrets, { namespace, name });
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
  for (const { metadata } of items) {
    const isLegacy = legacyNames.includes(metadata.name);
    if (!isLegacy && !ourNames.includes(metadata.name)) continue;
    const live = await findManagedResource(seed, metadata);
    if (live !== undefined && (isLegacy || isOurManagedResource(live))) found.push(live);
  }
  return found;
}

/** Why a sync mode drops a ManagedResource, for the log. */
export const RELEASED = 'the sync mode no longer follows it';

/** The field manager of everything that this function writes. */
export const fieldManager = 'shoot-flux-managed-resources';

/**
 * Stops managing a ManagedResource; its objects stay in the shoot, and none in the seed. Safe to repeat, also while it is
 * being deleted.
 * @throws ConflictError when it has changed since it was read
 */
export async function releaseObjects(seed: KubeClient, live: ManagedResource, reason: string): Promise<void> {
  const { metadata, spec } = live;
  if (metadata.name === MONITORING) return deleteManagedResource(seed, live, reason);
  const patch = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { keepObjects: true } };
  const isKept = spec.keepObjects === true;
  const kept = isKept ? live : await seed.mergePatch(resources.managedResources, metadata, patch, { fieldManager });
  await deleteManagedResource(seed, kept, `${reason}; its objects stay in the shoot`);
}

/**
 * Deletes a ManagedResource together with its objects, unless it keeps them.
 * @throws ConflictError when it has changed since it was read: another run may want the objects, or keep them
 */
export async function deleteManagedResource(seed: KubeClient, live: KubeObject, reason: string): Promise<void> {
  const { uid, resourceVersion, deletionTimestamp } = live.metadata;
  if (deletionTimestamp !== undefined) return;
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  await seed.delete(resources.managedResources, live.metadata, { reason, preconditions });
}

/**
 * Asks the resource-manager to retry failing ManagedResources now: its next attempt may be 15 minutes away, longer than
 * gardenlet waits. It rechecks a pending deletion every 5 s anyway.
 */
export async function retryApply(seed: KubeClient, live: Iterable<ManagedResource>): Promise<void> {
  for (const resource of live) {
    const apply = applyState(resource);
    if (apply.state === 'failing' && apply.reason !== 'DeletionPending') await applyAgain(seed, resource);
  }
}

/** Asks the resource-manager to apply a ManagedResource now, although its content is the same. */
export async function applyAgain(seed: KubeClient, { metadata }: ManagedResource): Promise<void> {
  const patch = { metadata: { annotations: { [OPERATION_ANNOTATION]: 'reconcile' } } };
  await unlessGone(seed.mergePatch(resources.managedResources, metadata, patch, { fieldManager }));
}

/**
 * Makes the API server call our webhook again with an empty patch, while the resource-manager may not write into Flux's
 * namespace: the webhook may have been down, or not have known the namespace.
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
