import { applyState, isCurrent } from '../../../shared/gardener/managed-resource.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import type { Desired } from './desired.ts';

/** The differences between what is and what should be. */
export interface Plan {
  /** ManagedResources whose content Secret is to be written first: it is not there, or not any more. */
  writeSecret: string[];
  /** ManagedResources that are to be written. */
  write: string[];
  release: ManagedResource[];
  remove: ManagedResource[];
  /** Those that are still being deleted and have to be gone before they are written anew. */
  blocked: string[];
}

/**
 * @param secretNames our content Secrets; undefined on a first run, which writes them all
 */
export function plan(
  wanted: Desired,
  live: Map<string, ManagedResource>,
  secretNames: ReadonlySet<string> | undefined,
): Plan {
  const result: Plan = { writeSecret: [], write: [], release: [], remove: [], blocked: [] };
  for (const [name, secretName] of Object.entries(wanted.applied.managedResources)) {
    const resource = live.get(name);
    if (resource?.metadata.deletionTimestamp !== undefined) {
      result.blocked.push(name);
      continue;
    }
    if (secretNames?.has(secretName) !== true) result.writeSecret.push(name);
    if (!isCurrent(resource, secretName)) result.write.push(name);
  }
  result.release.push(...releasable(wanted.released, live));
  for (const name of wanted.removed) {
    const resource = live.get(name);
    if (resource !== undefined && resource.metadata.deletionTimestamp === undefined) result.remove.push(resource);
  }
  return result;
}

/** Our content Secrets that nothing refers to any more. */
export function leftoverSecrets(
  secretNames: ReadonlySet<string>,
  wanted: Desired,
  live: Map<string, ManagedResource>,
): string[] {
  const used = new Set(Object.values(wanted.applied.managedResources));
  for (const resource of live.values()) for (const { name } of resource.spec.secretRefs) used.add(name);
  return [...secretNames].filter((name) => name.startsWith('managedresource-shoot-flux-') && !used.has(name));
}

/** Let go only of what the shoot really has; a failure after the first success is no longer ours to mend. */
export function releasable(names: string[], live: Map<string, ManagedResource>): ManagedResource[] {
  return names.flatMap((name) => {
    const resource = live.get(name);
    return resource === undefined || applyState(resource).state === 'pending' ? [] : [resource];
  });
}
