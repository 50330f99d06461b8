import type { KubeClient } from '../../shared/kube/client.ts';
import { type Resource, resources } from '../../shared/kube/resource.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { servedKind } from './kinds.ts';

/**
 * Kinds as the shoot serves them: their CRDs tell, whatever release put them there.
 * @param crds names of CustomResourceDefinitions; one that is not there has no objects
 */
export async function servedKinds(shoot: KubeClient, crds: string[]): Promise<Resource[]> {
  const found = await inParallel(crds, (name) => shoot.find(resources.customResourceDefinitions, { name }));
  return found.map((crd) => crd && servedKind(crd)).filter((kind) => kind !== undefined);
}
