import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { pages, unlessGone } from '../pages.ts';
import { servedKinds } from '../served.ts';
import { fieldManager } from '../write.ts';

const isOfFlux = (finalizer: string) =>
  ['finalizers.fluxcd.io', 'source.extensions.fluxcd.io/finalizer'].includes(finalizer);

/** True while a controller of Flux has to let go of an object before it can go. */
export function isHeld({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.some(isOfFlux) === true;
}

/** Takes Flux's finalizers off an object, which nobody serves any more; `change` comes with it in the same write. */
export async function stripFinalizers(
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
 * Where gardenlet deletes the CRDs of Flux, their objects may go although no controller runs: the nodes of a Shoot that
 * slept do not come back for its deletion, and gardenlet itself takes finalizers away only after an hour (facts 8).
 * @returns true when no CRD of Flux is left
 */
export async function finalizeDeleted(shoot: KubeClient, isTimeUp: () => boolean): Promise<boolean> {
  const { items } = await shoot.list(resources.customResourceDefinitions, { metadataOnly: true });
  const crds = items.map(({ metadata }) => metadata).filter(({ name }) => name.endsWith('.fluxcd.io'));
  const deleted = crds.filter(({ deletionTimestamp }) => deletionTimestamp !== undefined);
  const kinds = await servedKinds(
    shoot,
    deleted.map(({ name }) => name),
  );
  for (const kind of kinds) {
    for await (const items of pages(shoot, kind, { metadataOnly: true })) {
      const deleted = items.filter((item) => item.metadata.deletionTimestamp !== undefined && isHeld(item));
      await inParallel(deleted, (item) => stripFinalizers(shoot, kind, item), isTimeUp);
    }
  }
  return crds.length === 0;
}
