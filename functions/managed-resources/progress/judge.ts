import { applyState } from '../../../shared/gardener/managed-resource.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import { explain } from './explain.ts';

/** How far the resource-manager is with what we wrote. */
export type Judgement =
  | { state: 'applied' }
  | { state: 'pending' }
  /** A first failed pass is normal (Secrets before their Namespace): look again in so many seconds. */
  | { state: 'struggling'; lookAgainInSeconds: number }
  | { state: 'failed'; message: string };

/** A failure reaches the user only when it is older than this (design 5). */
export const PATIENCE_SECONDS = 20;
/** Removing takes a second pass 5 s later, and a controller in the shoot that has to agree. */
const REMOVAL_PATIENCE_SECONDS = 60;

/**
 * @param wanted names of the ManagedResources that should be there, all of them written
 * @param live what is there
 * @param seconds since the operation under way began; the resource-manager's own times restart at every attempt, and a
 * failure right after a write may still be of the former content
 */
export function judge(wanted: string[], live: Map<string, ManagedResource>, seconds: number): Judgement {
  let result: Judgement = { state: 'applied' };
  for (const name of wanted) {
    const resource = live.get(name);
    const state = resource === undefined ? { state: 'pending' as const } : applyState(resource);
    if (state.state === 'pending' && result.state === 'applied') result = { state: 'pending' };
    if (state.state !== 'failing') continue;
    const left = (state.reason === 'DeletionPending' ? REMOVAL_PATIENCE_SECONDS : PATIENCE_SECONDS) - seconds;
    if (left <= 0) return { state: 'failed', message: explain(name, state.reason, state.message) };
    result = { state: 'struggling', lookAgainInSeconds: Math.max(1, Math.ceil(left)) };
  }
  return result;
}
