import { isCurrent, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { Plan } from './plan.ts';
import { newest } from './version.ts';

/** The parts of a plan and of the control plane that say whether the shoot still has the CRDs of another release. */
export interface MigrationInputs {
  plan: Pick<Plan, 'record' | 'contents'>;
  previous: Applied | undefined;
  live: ReadonlyMap<string, ManagedResource>;
  /** The release of the CRDs in the shoot, where it was read. */
  liveVersion: string | undefined;
  /** The release of an upgrade that has begun and is not recorded yet. */
  upgradingTo?: string | undefined;
}

/** True when CRDs are about to be replaced by those of another release: only then the shoot is asked what it stores. */
export function mayDropVersions({
  plan: { record, contents },
  previous,
  live,
  liveVersion,
  upgradingTo,
}: MigrationInputs): boolean {
  const content = record.managedResources[names.crds];
  if (content === undefined || !contents.has(names.crds)) return false;
  // Taken back, it may have left CRDs in the shoot that the former release cannot replace.
  const isTakenBack = newest(previous?.fluxVersion, record.fluxVersion) !== record.fluxVersion;
  if (upgradingTo !== undefined || isTakenBack) return true;
  const resource = live.get(names.crds);
  if (isCurrent(resource, content)) return rejectsStoredVersions(resource);
  if (previous === undefined || liveVersion !== undefined) return liveVersion !== undefined;
  const isSameRelease = previous.fluxVersion === record.fluxVersion && previous.installed === record.fluxVersion;
  return !isSameRelease || record.components.some((component) => !previous.components.includes(component));
}

/** True when the API server rejects the CRDs because of what it stores. */
export function rejectsStoredVersions(resource: ManagedResource | undefined): boolean {
  const messages = resource?.status?.conditions?.map(({ message }) => message) ?? [];
  return messages.some((message) => message.includes('status.storedVersions'));
}
