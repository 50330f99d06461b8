import { isDeepStrictEqual } from 'node:util';
import { type KubeClient, resources } from '../client/client.ts';
import { seconds } from '../controllers/time.ts';
import { type ConditionType, merged, type NextCondition } from './conditions.ts';
import type { FullManagedResource } from './types.ts';

const fieldManager = 'gardener-resource-manager';
const resource = resources.managedResources;

/** A ManagedResource during one pass. All writes go through it, and each builds on the answer to the last. */
export interface Subject {
  current(): FullManagedResource;
  condition(
    type: ConditionType,
  ): NonNullable<NonNullable<FullManagedResource['status']>['conditions']>[number] | undefined;
  /** Sets conditions and further fields of the status; writes nothing when nothing changes. */
  setStatus(conditions: readonly NextCondition[], fields?: Partial<FullManagedResource['status']>): Promise<void>;
  /** Patches the metadata; fails with a conflict when the object has changed. */
  patchMetadata(metadata: Record<string, unknown>): Promise<void>;
}

export function subjectOf(source: KubeClient, managedResource: FullManagedResource): Subject {
  let current = managedResource;
  return {
    current: () => current,
    condition: (type) => current.status?.conditions?.find((condition) => condition.type === type),
    async setStatus(nextCondition, fields = {}) {
      const conditions = merged(current.status?.conditions ?? [], nextCondition, seconds(Date.now()));
      const status = { ...current.status, ...fields, conditions };
      if (isDeepStrictEqual(status, current.status)) return;
      current = await source.replace(resource, { ...current, status }, { fieldManager, subresource: 'status' });
    },
    async patchMetadata(metadata) {
      const { name, namespace, resourceVersion } = current.metadata;
      const patch = { metadata: { resourceVersion, ...metadata } };
      current = await source.mergePatch(resource, { name, namespace }, patch, { fieldManager });
    },
  };
}
