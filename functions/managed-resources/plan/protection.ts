import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied } from '../../../shared/gardener/types.ts';

const installed = [names.crds, names.controllers];

/** True for a plan or record by which installed objects carry the protection from the user's Kustomizations. */
export function protects(contents: ReadonlyMap<string, unknown>, previous: Applied | undefined): boolean {
  return previous?.protected === true || installed.some((name) => contents.has(name));
}

/** True while objects that we no longer manage still carry the protection; the user's Kustomizations skip them. */
export function isLeftProtected(record: Applied | undefined): record is Applied {
  return record?.protected === true && installed.every((name) => record.managedResources[name] === undefined);
}

/** The refs of the objects that carry the protection. */
export function protectedRefs(record: Applied): string[] {
  const { objects } = record;
  // A namespace that was there before us is in no content, and protected since its Flux was taken over.
  return [...new Set([namespaceRef(record), ...installed.flatMap((name) => objects[name] ?? [])])];
}

/** The refs of the objects that may still carry it, once nothing of Flux is managed any more. */
export function refsToUnprotect(record: Applied): string[] {
  return [...protectedRefs(record), claimRef(record)];
}

/** The ref of the claim of `storage`: without `storage` it stays in the shoot, and is no longer in the record. */
export function claimRef({ namespace }: Pick<Applied, 'namespace'>): string {
  return `PersistentVolumeClaim/${namespace}/source-controller`;
}

/** The ref of the namespace of Flux. */
export function namespaceRef({ namespace }: Pick<Applied, 'namespace'>): string {
  return `Namespace//${namespace}`;
}

/** The record once nothing in the shoot carries the protection. */
export function withoutProtection({ protected: _, ...record }: Applied): Applied {
  return record;
}
