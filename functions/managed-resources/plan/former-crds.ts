import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { objectRef } from '../objects.ts';

/** CRDs stay in the shoot without their component, because users may have objects of these kinds. */
export function isCrdRef(ref: string): boolean {
  return ref.startsWith('CustomResourceDefinition.');
}

interface Installed {
  record: Pick<Applied, 'objects'>;
  contents: ReadonlyMap<string, KubeObject[]>;
}

/** Refs of the recorded CRDs that no installed component has; none while the installation is out of scope. */
export function formerCrds({ record, contents }: Installed): string[] {
  const content = contents.get(names.crds);
  if (content === undefined) return [];
  const current = new Set(content.map(objectRef));
  return (record.objects[names.crds] ?? []).filter((ref) => isCrdRef(ref) && !current.has(ref));
}
