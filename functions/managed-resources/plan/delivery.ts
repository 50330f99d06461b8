import { applyState } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { Settings } from '../../../shared/runtime/context.ts';

/**
 * Decides who applies the objects to the shoot. `Auto` stays with `Direct` once it has switched: a resource-manager
 * that learns of the namespace later is no reason to hand everything over again.
 */
export function chooseDelivery(
  setting: Settings['delivery'],
  previous: Applied | undefined,
  live: ReadonlyMap<string, ManagedResource>,
): 'ManagedResource' | 'Direct' {
  if (setting !== 'Auto') return setting;
  if (previous?.delivery === 'Direct') return 'Direct';
  return [...live.values()].some((resource) => rejectedNamespace(resource) !== undefined)
    ? 'Direct'
    : 'ManagedResource';
}

/**
 * Returns the namespace that the resource-manager may not write into: before Gardener v1.147, or without the argument
 * that the webhook adds (rule 3).
 */
export function rejectedNamespace(resource: ManagedResource): string | undefined {
  const state = applyState(resource);
  return state.state === 'failing' ? unknownNamespace(state.message) : undefined;
}

/**
 * Returns the namespace in "unable to get: flux-system/x because of unknown namespace for the cache". A webhook of the
 * Shoot may use the same words, and must not decide how we deliver.
 */
export function unknownNamespace(message: string): string | undefined {
  const found = /unable to get: ([^/\s]+)\/\S+ because of unknown namespace for the cache/.exec(message);
  return found === null || /denied (?:the )?request/.test(message.slice(0, found.index)) ? undefined : found[1];
}
