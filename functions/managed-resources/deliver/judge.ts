import { applyState, isCurrent, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { LastOperation, ManagedResource } from '../../../shared/gardener/types.ts';
import { NEEDED } from '../plan/changes.ts';
import type { ControlPlane } from '../read/control-plane.ts';
import { PATIENCE_SECONDS } from '../run.ts';
import { explain } from './explain.ts';
import { applying } from './restored.ts';

/** How far the resource-manager has come with what we wrote. */
export type Verdict =
  | { state: 'applied' }
  | { state: 'pending' }
  /** A failed first attempt is normal (Secrets before their Namespace): recheck in so many seconds. */
  | { state: 'struggling'; recheckInSeconds: number }
  | { state: 'failed'; message: string };

/** A deletion takes a second attempt 5 s later, and a controller in the shoot that has to remove its finalizer. */
const DELETION_PATIENCE_SECONDS = 60;

/**
 * Judges ManagedResources that are written.
 * @param seconds since the operation began: the times of the resource-manager restart with every attempt, and a failure
 * right after a write may still be about the former content
 */
export function judge(wanted: string[], live: ReadonlyMap<string, ManagedResource>, seconds: number): Verdict {
  let verdict: Verdict = { state: 'applied' };
  for (const name of wanted) {
    const resource = live.get(name);
    const state = resource === undefined ? { state: 'pending' as const } : applyState(resource);
    if (state.state === 'pending' && verdict.state === 'applied') verdict = { state: 'pending' };
    if (state.state !== 'failing') continue;
    const left = (state.reason === 'DeletionPending' ? DELETION_PATIENCE_SECONDS : PATIENCE_SECONDS) - seconds;
    if (left <= 0) return { state: 'failed', message: explain(name, state.reason, state.message) };
    verdict = { state: 'struggling', recheckInSeconds: Math.max(1, Math.ceil(left)) };
  }
  return verdict;
}

/**
 * True while the resource-manager applies what the record says and has reported no failure. Only its last report has
 * something to follow: the end of the operation, or the sync objects, which wait for two others (`inOrder`).
 */
export function isStillApplying(
  { previous, live }: Pick<ControlPlane, 'previous' | 'live'>,
  lastOperation: LastOperation | undefined,
): boolean {
  if (previous === undefined || lastOperation?.state !== 'Processing') return false;
  if (lastOperation.description !== applying(previous.fluxVersion)) return false;
  const states = Object.entries(previous.managedResources).map(([name, secretName]) => {
    const resource = live.get(name);
    if (resource === undefined) return { name, state: 'absent' };
    return { name, state: isCurrent(resource, secretName) ? applyState(resource).state : 'other' };
  });
  if (states.some(({ state }) => state === 'other' || state === 'failing')) return false;
  const absent = states.filter(({ state }) => state === 'absent');
  if (absent.some(({ name }) => name !== names.sync)) return false;
  return states.some(({ name, state }) => state === 'pending' && (absent.length === 0 || NEEDED.includes(name)));
}
