import type { KubeClient } from '../../../shared/kube/client.ts';
import { unlessGone } from '../../../shared/kube/errors.ts';
import { type KubeObject, type ObjectMeta, type Resource, resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { fieldManager } from '../release.ts';
import { servedKinds } from '../shoot/kinds.ts';
import { everyPage } from '../shoot/pages.ts';

const isOfFlux = (finalizer: string) =>
  ['finalizers.fluxcd.io', 'source.extensions.fluxcd.io/finalizer'].includes(finalizer);

/** True while an object has a finalizer of Flux. */
export function isHeld({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.some(isOfFlux) === true;
}

/** Removes Flux's finalizers from an object that no controller serves any more; `change` joins the same write. */
export async function removeFluxFinalizers(
  shoot: KubeClient,
  kind: Resource,
  { metadata }: KubeObject,
  change: Record<string, unknown> = {},
): Promise<void> {
  const finalizers = metadata.finalizers?.filter((finalizer) => !isOfFlux(finalizer));
  const patch = { ...change, metadata: { finalizers, resourceVersion: metadata.resourceVersion } };
  await unlessGone(shoot.mergePatch(kind, metadata, patch, { fieldManager }));
}

/**
 * Frees the objects of the Flux CRDs that gardenlet deletes, although no controller runs: the nodes of a hibernated
 * Shoot do not come back for its deletion, and gardenlet itself removes finalizers only after an hour (rule 8).
 * @returns true when no CRD of Flux is left
 */
export async function finalizeDeleted(shoot: KubeClient, isTimeUp: () => boolean): Promise<boolean> {
  const crds: Pick<ObjectMeta, 'name' | 'deletionTimestamp'>[] = [];
  const options = { metadataOnly: true, isTimeUp };
  // In pages: the annotations of the CRDs alone may be larger than one answer.
  const areRead = await everyPage(shoot, resources.customResourceDefinitions, options, async (items) => {
    for (const { metadata } of items) {
      const { name, deletionTimestamp } = metadata;
      if (name.endsWith('.fluxcd.io'))
        crds.push({ name, ...(deletionTimestamp !== undefined && { deletionTimestamp }) });
    }
    return true;
  });
  const deleted = crds.filter(({ deletionTimestamp }) => deletionTimestamp !== undefined);
  const kinds = await servedKinds(
    shoot,
    deleted.map(({ name }) => name),
  );
  for (const kind of kinds) {
    await everyPage(shoot, kind, { metadataOnly: true, isTimeUp }, async (items) => {
      const deleted = items.filter((item) => item.metadata.deletionTimestamp !== undefined && isHeld(item));
      await inParallel(deleted, (item) => removeFluxFinalizers(shoot, kind, item), isTimeUp);
      return true;
    });
  }
  return areRead && crds.length === 0;
}
