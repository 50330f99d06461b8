import { applyState, isCurrent, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { entriesAt, textAt } from '../../../shared/shapes.ts';
import { objectRef } from '../shoot/objects.ts';
import type { Plan } from './plan.ts';
import { managing } from './scope.ts';

/** The writes that a plan asks for in the control plane. */
export interface Changes {
  /** ManagedResources whose content Secret is missing; it is written first. */
  writeSecret: string[];
  write: string[];
  release: ManagedResource[];
  remove: ManagedResource[];
  /** ManagedResources that wait until the shoot has accepted the CRDs of another release: the installed one keeps running. */
  awaitsCrds: string[];
  /** ManagedResources that are still being deleted and can only be recreated afterwards. */
  blocked: string[];
}

/**
 * Compares a plan with the control plane.
 * @param secretNames our content Secrets; undefined on a first run, which writes all of them
 */
export function changesOf(
  plan: Pick<Plan, 'record' | 'released' | 'removed'>,
  live: Map<string, ManagedResource>,
  secretNames: ReadonlySet<string> | undefined,
  previous?: Pick<Applied, 'installed'>,
): Changes {
  const changes: Changes = { writeSecret: [], write: [], release: [], remove: [], awaitsCrds: [], blocked: [] };
  const isHolding = awaitsCrds(plan, live, previous);
  for (const [name, secretName] of Object.entries(plan.record.managedResources)) {
    const resource = live.get(name);
    const isWritten = isCurrent(resource, secretName);
    if (resource?.metadata.deletionTimestamp !== undefined) changes.blocked.push(name);
    else if (isHolding && resource !== undefined && needCrds.includes(name) && !isWritten)
      changes.awaitsCrds.push(name);
    else {
      if (secretNames?.has(secretName) !== true) changes.writeSecret.push(name);
      if (!isWritten) changes.write.push(name);
    }
  }
  changes.release.push(...releasable(plan.released, live));
  changes.remove.push(...plan.removed.flatMap((name) => managing(live, name) ?? []));
  return changes;
}

/** What only runs or exists with the CRDs of its release. */
const needCrds: string[] = [names.controllers, names.sync];

/** True while the CRDs of another release than the installed one are not accepted by the shoot. */
function awaitsCrds(
  { record }: Pick<Plan, 'record'>,
  live: ReadonlyMap<string, ManagedResource>,
  previous: Pick<Applied, 'installed'> | undefined,
): boolean {
  const content = record.managedResources[names.crds];
  if (content === undefined || previous?.installed === record.fluxVersion) return false;
  const crds = live.get(names.crds);
  return !isCurrent(crds, content) || stateOf(crds) !== 'applied';
}

/** The ManagedResources of these names that the shoot has received; a failure after the first success is the user's. */
export function releasable(names: string[], live: Map<string, ManagedResource>): ManagedResource[] {
  return names.flatMap((name) => {
    const resource = live.get(name);
    return resource === undefined || applyState(resource).state === 'pending' ? [] : [resource];
  });
}

/** The names of our content Secrets that nothing refers to any more. */
export function leftoverSecrets(
  secretNames: ReadonlySet<string>,
  plan: Pick<Plan, 'record'>,
  live: Map<string, ManagedResource>,
): string[] {
  const used = new Set(Object.values(plan.record.managedResources));
  for (const resource of live.values()) for (const { name } of resource.spec.secretRefs) used.add(name);
  return [...secretNames].filter((name) => name.startsWith('managedresource-shoot-flux-') && !used.has(name));
}

/** What sources and Kustomizations need in the shoot: their kinds, and the Secrets and ConfigMaps that they name. */
export const NEEDED: string[] = [names.crds, names.secrets];

/**
 * Holds the sync objects back until everything that they may need is in the shoot: written together, a source would
 * first fail, and the next attempt of Flux may be minutes away. Only names count, so a rotation holds nothing back. A
 * copy that leaves waits the other way round, for the sync objects that no longer name it: Flux would fail at once.
 * @param isLate true: a group that cannot be applied holds the others back no longer, as an edit may suspend it
 * @returns the changes to make now, and the group that waits
 */
export function inOrder(
  changes: Changes,
  { contents }: Pick<Plan, 'contents'>,
  live: ReadonlyMap<string, ManagedResource>,
  isLate: boolean,
): Changes & { deferred?: string } {
  const isWritten = (name: string) => changes.write.includes(name) || changes.writeSecret.includes(name);
  const isAwaiting = NEEDED.some((name) => isAwaited(contents.get(name) ?? [], live.get(name), isLate));
  if (isWritten(names.sync) && isAwaiting) return without(names.sync, changes);
  const isChanging =
    isWritten(names.sync) || changes.awaitsCrds.includes(names.sync) || stateOf(live.get(names.sync)) !== 'applied';
  const awaitsSync = contents.has(names.sync) && isChanging && !isLate;
  const kept = new Set(contents.get(names.secrets)?.map(objectRef));
  const loses = listedBy(live.get(names.secrets)).some((ref) => !kept.has(ref));
  return isWritten(names.secrets) && awaitsSync && loses ? without(names.secrets, changes) : changes;
}

function without(deferred: string, changes: Changes): Changes & { deferred: string } {
  const others = (list: string[]) => list.filter((name) => name !== deferred);
  return { ...changes, write: others(changes.write), writeSecret: others(changes.writeSecret), deferred };
}

/**
 * The resource-manager lists what it has applied, and updates the list only when it could apply everything. A
 * ManagedResource that it is about to delete, or that fails, is given up after some time.
 */
function isAwaited(objects: KubeObject[], resource: ManagedResource | undefined, isLate: boolean): boolean {
  const isStuck = resource?.metadata.deletionTimestamp !== undefined || stateOf(resource) === 'failing';
  if (isLate && isStuck) return false;
  const listed = new Set(listedBy(resource));
  return objects.some((object) => !listed.has(objectRef(object)));
}

/** The state of a ManagedResource; a webhook of the shoot may make it fail for a while. */
export function stateOf(resource: ManagedResource | undefined): string {
  return resource === undefined ? 'absent' : applyState(resource).state;
}

function listedBy(resource: ManagedResource | undefined): string[] {
  return entriesAt(resource?.status, 'resources').map((entry) => {
    const [apiVersion = '', kind = '', name = ''] = ['apiVersion', 'kind', 'name'].map((field) => textAt(entry, field));
    return objectRef({ apiVersion, kind, metadata: { name, namespace: textAt(entry, 'namespace') ?? '' } });
  });
}
