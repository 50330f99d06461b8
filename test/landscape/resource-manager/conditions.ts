import { isDeepStrictEqual } from 'node:util';
import { type KubeClient, resources } from '../client/client.ts';
import { seconds } from '../controllers/work-queue.ts';
import type { Condition } from '../gardener/types.ts';
import type { FullManagedResource } from './references.ts';

export type ConditionType = 'ResourcesApplied' | 'ResourcesHealthy' | 'ResourcesProgressing';

/** A condition to be set. */
export interface NextCondition {
  type: ConditionType;
  status: Condition['status'];
  reason: string;
  message: string;
}

const conditionOf =
  (type: ConditionType) =>
  (status: Condition['status'], reason: string, message: string): NextCondition => ({ type, status, reason, message });
const applied = conditionOf('ResourcesApplied');
export const healthy = conditionOf('ResourcesHealthy');
export const progressing = conditionOf('ResourcesProgressing');

const DELETING = 'The resources are currently being deleted.';
const IGNORED = 'ManagedResource is marked to be ignored.';

/** Returns the conditions for a set of objects that differs from the last one applied. */
export function changed(old: Condition | undefined): NextCondition[] {
  // The last failure stays visible until this pass has a result.
  const keeps = old !== undefined && ['ApplyFailed', 'DeletionFailed', 'DeletionPending'].includes(old.reason);
  return [
    healthy(
      'Unknown',
      'ChecksPending',
      'The health checks have not yet been executed for the current set of resources.',
    ),
    progressing('Unknown', 'ChecksPending', 'Checks have not yet been executed for the current set of resources.'),
    applied(
      'Progressing',
      keeps ? old.reason : 'ApplyProgressing',
      keeps ? old.message : 'The resources are currently being reconciled.',
    ),
  ];
}

export const deleting = [
  healthy('False', 'DeletionPending', DELETING),
  progressing('True', 'DeletionPending', DELETING),
];

export function deletionBegins(old: Condition | undefined): NextCondition {
  const keeps = old !== undefined && ['DeletionFailed', 'DeletionPending'].includes(old.reason);
  return applied('Progressing', 'DeletionPending', keeps ? old.message : DELETING);
}

export const ignored = [
  applied('True', 'ManagedResourceIgnored', IGNORED),
  healthy('True', 'ManagedResourceIgnored', IGNORED),
  progressing('False', 'ManagedResourceIgnored', IGNORED),
];

export const secretUnreadable = (message: string) => applied('False', 'CannotReadSecret', message);
export const deletionPending = (message: string) => applied('Progressing', 'DeletionPending', message);
export const applyFailed = (message: string) => applied('False', 'ApplyFailed', message);
export const applySucceeded = applied('True', 'ApplySucceeded', 'All resources are applied.');

/** Returns the conditions with the given ones set; equal ones keep their times, new ones are appended. */
export function merged(conditions: readonly Condition[], all: readonly NextCondition[], now: string): Condition[] {
  const result = [...conditions];
  for (const next of all) {
    const index = result.findIndex(({ type }) => type === next.type);
    const old = result[index];
    if (old?.status === next.status && old.reason === next.reason && old.message === next.message) continue;
    const lastTransitionTime = old?.status === next.status ? old.lastTransitionTime : now;
    const condition: Condition = { ...next, lastTransitionTime, lastUpdateTime: now };
    if (index < 0) result.push(condition);
    else result[index] = condition;
  }
  return result;
}

const fieldManager = 'gardener-resource-manager';
const resource = resources.managedResources;

export type Subject = ReturnType<typeof subjectOf>;

/** A ManagedResource during one pass. All writes go through it, and each builds on the answer to the last. */
export function subjectOf(source: KubeClient, managedResource: FullManagedResource) {
  let current = managedResource;
  return {
    current: () => current,
    condition: (type: ConditionType) => current.status?.conditions?.find((condition) => condition.type === type),
    /** Sets conditions and further fields of the status; writes nothing when nothing changes. */
    async setStatus(nextCondition: readonly NextCondition[], fields: Partial<FullManagedResource['status']> = {}) {
      const conditions = merged(current.status?.conditions ?? [], nextCondition, seconds(Date.now()));
      const status = { ...current.status, ...fields, conditions };
      if (isDeepStrictEqual(status, current.status)) return;
      current = await source.replace(resource, { ...current, status }, { fieldManager, subresource: 'status' });
    },
    /** Patches the metadata; fails with a conflict when the object has changed. */
    async patchMetadata(metadata: Record<string, unknown>) {
      const { name, namespace, resourceVersion } = current.metadata;
      const patch = { metadata: { resourceVersion, ...metadata } };
      current = await source.mergePatch(resource, { name, namespace }, patch, { fieldManager });
    },
  };
}
