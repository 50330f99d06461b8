import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, Resource } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { isSuspended, pruningKinds } from '../objects.ts';
import { servedKind } from '../shoot/kinds.ts';
import { everyPage } from '../shoot/pages.ts';
import { isHeld, removeFluxFinalizers } from './finalizers.ts';
import type { Target } from './targets.ts';

/** Removes Flux's finalizers from the objects of a CRD, then deletes it; true when it did not exist any more. */
export async function removeCrd(
  shoot: KubeClient,
  { resource, name }: Pick<Target, 'resource' | 'name'>,
  isTimeUp: () => boolean,
): Promise<boolean> {
  const crd = await shoot.find(resource, { name });
  if (crd === undefined) return true;
  const kind = servedKind(crd);
  const isFree = kind === undefined || (await freeObjects(shoot, kind, isTimeUp));
  if (isFree && crd.metadata.deletionTimestamp === undefined) await shoot.delete(resource, { name });
  return false;
}

/**
 * Removes Flux's finalizers from all objects of a kind.
 * @returns false when the next run has to recheck: the time was up, or an object was not suspended, because a
 * reconciliation in flight has resumed it or a user has just created it
 */
async function freeObjects(shoot: KubeClient, kind: Resource, isTimeUp: () => boolean): Promise<boolean> {
  const mayPrune = pruningKinds.has(kind.kind);
  const isActive = (object: KubeObject) => mayPrune && !isSuspended(object);
  let wereSuspended = true;
  const strip = (object: KubeObject) =>
    removeFluxFinalizers(shoot, kind, object, mayPrune ? { spec: { suspend: true } } : {});
  const isDone = await everyPage(shoot, kind, { metadataOnly: !mayPrune, isTimeUp }, async (items) => {
    const held = items.filter((object) => isActive(object) || isHeld(object));
    if (held.some(isActive)) wereSuspended = false;
    const stripped = await inParallel(held, strip, isTimeUp);
    return stripped.length === held.length;
  });
  return isDone && wereSuspended;
}
