import { applyState } from '../../../shared/gardener/managed-resource.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';

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
 * Shoot may use the same words.
 */
export function unknownNamespace(message: string): string | undefined {
  const found = /unable to get: ([^/\s]+)\/\S+ because of unknown namespace for the cache/.exec(message);
  return found === null || /denied (?:the )?request/.test(message.slice(0, found.index)) ? undefined : found[1];
}
