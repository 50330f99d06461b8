import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { pages, unlessGone } from '../pages.ts';
import { servedKinds } from '../served.ts';
import { fieldManager } from '../write.ts';

const fluxFinalizers = new Set(['finalizers.fluxcd.io', 'source.extensions.fluxcd.io/finalizer']);

/** Takes Flux's finalizers off the objects of a kind; nobody serves them any more. */
export async function stripFinalizers(
  shoot: KubeClient,
  kind: Resource,
  isDue: (object: KubeObject) => boolean = () => true,
): Promise<void> {
  for await (const items of pages(shoot, kind, { metadataOnly: true })) {
    const held = items.filter(
      (item) => isDue(item) && item.metadata.finalizers?.some((finalizer) => fluxFinalizers.has(finalizer)),
    );
    await inParallel(held, async ({ metadata }) => {
      const finalizers = metadata.finalizers?.filter((finalizer) => !fluxFinalizers.has(finalizer));
      const patch = { metadata: { finalizers, resourceVersion: metadata.resourceVersion } };
      await unlessGone(shoot.mergePatch(kind, metadata, patch, { fieldManager }));
    });
  }
}

/**
 * Where gardenlet deletes the CRDs of Flux, their objects may go although no controller runs: the nodes of a Shoot that
 * slept do not come back for its deletion, and gardenlet itself takes finalizers away only after an hour (facts 8).
 * @returns true when no CRD of Flux is left
 */
export async function finalizeDeleted(shoot: KubeClient): Promise<boolean> {
  const { items } = await shoot.list(resources.customResourceDefinitions, { metadataOnly: true });
  const crds = items.map(({ metadata }) => metadata).filter(({ name }) => name.endsWith('.fluxcd.io'));
  const deleted = crds.filter(({ deletionTimestamp }) => deletionTimestamp !== undefined);
  const kinds = await servedKinds(
    shoot,
    deleted.map(({ name }) => name),
  );
  for (const kind of kinds) {
    await stripFinalizers(shoot, kind, ({ metadata }) => metadata.deletionTimestamp !== undefined);
  }
  return crds.length === 0;
}
