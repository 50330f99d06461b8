import type { EffectiveConfig, SyncMode } from '../../shared/config/types.ts';
import { crdsOf, neededCrds } from '../../shared/flux/needed-kinds.ts';
import type { Release } from '../../shared/flux/release.ts';

/** One sentence about the kinds that `removedComponents: Delete` deletes; none without it. */
export function removedKindsWarnings(deleted: readonly string[], syncMode: SyncMode): string[] {
  if (deleted.length === 0) return [];
  if (syncMode !== 'Reconcile') {
    return [
      `removedComponents is Delete, but with syncMode ${syncMode} the installation does not follow the configuration after the first success, and nothing is deleted then; set syncMode to Reconcile, or remove removedComponents.`,
    ];
  }
  return [
    `removedComponents is Delete: where the extension has installed them, these CustomResourceDefinitions are deleted from the shoot, with all objects of their kinds: ${deleted.join(', ')}.`,
  ];
}

/** Returns the CRDs that `removedComponents: Delete` deletes; none without it. */
export function deletedKinds({ flux }: Pick<EffectiveConfig, 'flux'>, release: Release): string[] {
  if (flux.removedComponents !== 'Delete') return [];
  const needed = neededCrds(release, flux.components);
  const crds = [...release.files.keys()].flatMap((file) => crdsOf(release, file)).filter((name) => !needed.has(name));
  return [...new Set(crds)].sort();
}
