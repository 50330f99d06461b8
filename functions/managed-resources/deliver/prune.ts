import { isTrue } from '../../../shared/gardener/is-true.ts';
import { KEEP_OBJECT } from '../../../shared/gardener/managed-resource.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, ObjectName, Resource } from '../../../shared/kube/resource.ts';
import { isFluxRef, isPruningRef, isSuspended, objectRef, parseRef } from '../objects.ts';
import { fieldManager } from '../release.ts';
import { inParallel } from '../shoot/in-parallel.ts';
import { resourceOf } from '../shoot/kinds.ts';

type Kinds = Record<string, Resource>;

/**
 * Returns the Kustomization or HelmRelease among the objects that is still being deleted: applied now, it would lose its
 * `suspend`, and Flux would delete its workloads before it removes the finalizer.
 */
export async function findDeleting(
  shoot: KubeClient,
  objects: KubeObject[],
  kinds: Kinds,
): Promise<KubeObject | undefined> {
  for (const object of objects.filter((candidate) => isPruningRef(objectRef(candidate)))) {
    const live = await shoot.find(resourceOf(object, kinds), object.metadata, { metadataOnly: true });
    if (live?.metadata.deletionTimestamp !== undefined) return object;
  }
  return undefined;
}

/** Suspends the surplus objects that would otherwise delete their workloads. */
export async function suspendSurplus(shoot: KubeClient, refs: string[], kinds: Kinds): Promise<void> {
  for (const ref of refs.filter(isPruningRef)) {
    const [resource, name] = locate(ref, kinds);
    const live = resource && (await shoot.find(resource, name));
    if (!resource || live === undefined || isSuspended(live)) continue;
    await shoot.mergePatch(resource, name, { spec: { suspend: true } }, { fieldManager });
  }
}

/**
 * Deletes the surplus objects. While one of Flux's own kinds is left, the controllers and all other objects stay.
 * @returns the refs of the objects that are still there
 */
export async function deleteSurplus(shoot: KubeClient, refs: string[], kinds: Kinds): Promise<string[]> {
  const ofFlux = await deleteAll(shoot, refs.filter(isFluxRef), kinds);
  const others = refs.filter((ref) => !isFluxRef(ref));
  if (ofFlux.length > 0) return [...ofFlux, ...others];
  return deleteAll(shoot, others, kinds);
}

async function deleteAll(shoot: KubeClient, refs: string[], kinds: Kinds): Promise<string[]> {
  const remaining = await inParallel(refs, async (ref) => {
    const [resource, name] = locate(ref, kinds);
    const live = resource && (await shoot.find(resource, name, { metadataOnly: true }));
    if (!resource || live === undefined || isTrue(live.metadata.annotations?.[KEEP_OBJECT])) return [];
    if (live.metadata.deletionTimestamp === undefined) {
      await shoot.delete(resource, name, { propagationPolicy: 'Background' });
      if ((await shoot.find(resource, name, { metadataOnly: true })) === undefined) return [];
    }
    return [ref];
  });
  return remaining.flat();
}

/** A kind that this release does not have cannot be located: its CRD is not among the release's objects. */
function locate(ref: string, kinds: Kinds): [Resource | undefined, ObjectName] {
  const { type, name } = parseRef(ref);
  return [kinds[type], name];
}
