import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { fieldManager } from '../release.ts';

/** The resource-manager writes it to every object: the ManagedResource that it comes from, after the seed's identity. */
const ORIGIN_ANNOTATION = 'resources.gardener.cloud/origin';

const names: string[] = Object.values(managedResourceNames);

/**
 * True for an object in the shoot that the resource-manager has applied for us, or that we have changed. An object without this mark has
 * been replaced by a user since it was recorded, and is never deleted.
 */
export function carriesOurMark({ metadata }: KubeObject): boolean {
  if (metadata.managedFields?.some(({ manager }) => manager === fieldManager)) return true;
  const origin = metadata.annotations?.[ORIGIN_ANNOTATION];
  return origin !== undefined && names.includes(origin.slice(origin.lastIndexOf('/') + 1));
}
