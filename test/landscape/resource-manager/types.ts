import type { Condition, ManagedResource } from '../gardener/types.ts';

/** An entry of `status.resources`: an object, and the labels and annotations it was applied with. */
export interface ObjectReference {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** A ManagedResource with the status that only the resource-manager reads. */
export interface FullManagedResource extends ManagedResource {
  status?: {
    observedGeneration?: number;
    conditions?: Condition[];
    resources?: ObjectReference[];
    secretsDataChecksum?: string;
  };
}

export const annotations = {
  ignore: 'resources.gardener.cloud/ignore',
  keepObject: 'resources.gardener.cloud/keep-object',
  skipHealthCheck: 'resources.gardener.cloud/skip-health-check',
  origin: 'resources.gardener.cloud/origin',
  description: 'resources.gardener.cloud/description',
} as const;

export const FINALIZER = 'resources.gardener.cloud/gardener-resource-manager';
export const MANAGED_BY = { 'resources.gardener.cloud/managed-by': 'gardener' };

/** Returns whether an annotation is true, as Go's ParseBool reads it. */
export function isTrue(entries: Record<string, string> | undefined, key: string): boolean {
  return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(entries?.[key] ?? '');
}
