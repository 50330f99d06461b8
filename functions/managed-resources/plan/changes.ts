import { applyState, isCurrent, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { Plan } from './plan.ts';

/** The writes that a plan asks for in the control plane. */
export interface Changes {
  /** ManagedResources whose content Secret is missing; it is written first. */
  writeSecret: string[];
  write: string[];
  release: ManagedResource[];
  remove: ManagedResource[];
  /** ManagedResources that wait until the shoot has accepted the CRDs of another release: the installed one keeps running. */
  held: string[];
  /** ManagedResources that are still being deleted and can only be recreated afterwards. */
  blocked: string[];
}

/**
 * Compares a plan with the control plane.
 * @param secretNames our content Secrets; undefined on a first run, which writes all of them
 * @param previous the last record
 */
export function changesOf(
  plan: Pick<Plan, 'record' | 'released' | 'removed'>,
  live: Map<string, ManagedResource>,
  secretNames: ReadonlySet<string> | undefined,
  previous?: Pick<Applied, 'installed'>,
): Changes {
  const changes: Changes = { writeSecret: [], write: [], release: [], remove: [], held: [], blocked: [] };
  const isHolding = awaitsCrds(plan, live, previous);
  for (const [name, secretName] of Object.entries(plan.record.managedResources)) {
    const resource = live.get(name);
    if (resource?.metadata.deletionTimestamp !== undefined) {
      changes.blocked.push(name);
      continue;
    }
    if (isHolding && resource !== undefined && needCrds.includes(name) && !isCurrent(resource, secretName)) {
      changes.held.push(name);
      continue;
    }
    if (secretNames?.has(secretName) !== true) changes.writeSecret.push(name);
    if (!isCurrent(resource, secretName)) changes.write.push(name);
  }
  changes.release.push(...releasable(plan.released, live));
  for (const name of plan.removed) {
    const resource = live.get(name);
    if (resource !== undefined && resource.metadata.deletionTimestamp === undefined) changes.remove.push(resource);
  }
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
  return crds === undefined || !isCurrent(crds, content) || applyState(crds).state !== 'applied';
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
