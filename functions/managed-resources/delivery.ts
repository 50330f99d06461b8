import { applyState } from '../../shared/gardener/managed-resource.ts';
import type { Applied, ManagedResource } from '../../shared/gardener/types.ts';
import type { Settings } from '../../shared/runtime/context.ts';

/**
 * Who brings the objects into the shoot. `Auto` stays with `Direct` once it has come to it: a resource-manager that
 * learns of the namespace later is no reason to hand everything over again.
 */
export function deliveryOf(
  setting: Settings['delivery'],
  previous: Applied | undefined,
  live: Map<string, ManagedResource>,
): 'ManagedResource' | 'Direct' {
  if (setting !== 'Auto') return setting;
  if (previous?.delivery === 'Direct') return 'Direct';
  return [...live.values()].some((resource) => refusedNamespace(resource) !== undefined) ? 'Direct' : 'ManagedResource';
}

/**
 * The namespace that the resource-manager may not write into: before Gardener v1.147, or without the webhook's
 * argument (facts/gardener.md 3.5).
 */
export function refusedNamespace(resource: ManagedResource): string | undefined {
  const state = applyState(resource);
  return state.state === 'failing' ? unknownNamespace(state.message) : undefined;
}

/**
 * The namespace in "unable to get: flux-system/x because of unknown namespace for the cache". A webhook of the Shoot
 * may say so too, and is not asked how we deliver.
 */
export function unknownNamespace(message: string): string | undefined {
  const found = /unable to get: ([^/\s]+)\/\S+ because of unknown namespace for the cache/.exec(message);
  return found === null || /denied (?:the )?request/.test(message.slice(0, found.index)) ? undefined : found[1];
}
