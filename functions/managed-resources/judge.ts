import { applyState } from '../../shared/gardener/managed-resource.ts';
import type { ManagedResource } from '../../shared/gardener/types.ts';

/** How far the resource-manager is with what we wrote. */
export type Judgement =
  | { state: 'applied' }
  /** `lookAgainInSeconds`: a first failed pass is normal (Secrets before their Namespace), so it gets its time. */
  | { state: 'pending'; lookAgainInSeconds?: number }
  | { state: 'failed'; message: string };

/** ApplyFailed reaches the user only when it is older than this (design 5). */
const PATIENCE_SECONDS = 20;

/**
 * @param wanted names of the ManagedResources that should be there, all of them written
 * @param live what is there
 * @param began milliseconds since the epoch when the operation under way began to write; a failure that is older may
 * be of the former content, since the resource-manager keeps it until it has tried the new one
 */
export function judge(wanted: string[], live: Map<string, ManagedResource>, now: Date, began = 0): Judgement {
  let pending: Judgement | undefined;
  for (const name of wanted) {
    const resource = live.get(name);
    const state = resource === undefined ? { state: 'pending' as const } : applyState(resource);
    if (state.state === 'pending') pending ??= { state: 'pending' };
    if (state.state !== 'failed') continue;
    const age = (now.getTime() - Math.max(state.since, began)) / 1000;
    if (age >= PATIENCE_SECONDS) return { state: 'failed', message: explain(name, state.message) };
    pending = { state: 'pending', lookAgainInSeconds: Math.max(1, Math.ceil(PATIENCE_SECONDS - age)) };
  }
  return pending ?? { state: 'applied' };
}

/** The resource-manager's message with the remedy, where one is known. */
function explain(name: string, message: string): string {
  const unknown = /unable to get: ([^/\s]+)\/\S+ because of unknown namespace for the cache/.exec(message);
  if (unknown !== null) {
    return (
      `ManagedResource ${name}: the gardener-resource-manager of this Shoot may not write into namespace "${unknown[1]}" ` +
      `(unknown namespace for the cache); it needs the argument --extra-target-namespace=${unknown[1]}, ` +
      'which Gardener has since v1.147 and the webhook of shoot-flux adds.'
    );
  }
  return `ManagedResource ${name} cannot be applied to the shoot: ${message}`;
}
