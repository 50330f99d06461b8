import { applyState, isCurrent, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, LastOperation, ManagedResource } from '../../../shared/gardener/types.ts';
import { applying } from './sentences.ts';

/** A delivery, before its plan is made again. */
interface Delivery {
  previous: Applied | undefined;
  /** Our ManagedResources by name. */
  live: ReadonlyMap<string, ManagedResource>;
  lastOperation: LastOperation | undefined;
}

/**
 * True while the resource-manager applies what the record says and has reported no failure. Of several ManagedResources it
 * reports each one, and only the last report has something to follow: the end of the operation, or the sync objects, which
 * wait for the two that they need (prerequisites.ts).
 */
export function isStillApplying({ previous, live, lastOperation }: Delivery): boolean {
  if (previous === undefined) return false;
  const isUnderWay =
    lastOperation?.state === 'Processing' && lastOperation.description === applying(previous.fluxVersion);
  if (!isUnderWay) return false;
  const states = Object.entries(previous.managedResources).map(([name, secretName]) => {
    const resource = live.get(name);
    return {
      name,
      state: resource === undefined ? 'absent' : isCurrent(resource, secretName) ? applyState(resource).state : 'other',
    };
  });
  const absent = states.filter(({ state }) => state === 'absent');
  if (states.some(({ state }) => state === 'other' || state === 'failing')) return false;
  if (absent.some(({ name }) => name !== names.sync)) return false;
  return states.some(({ name, state }) => state === 'pending' && (absent.length === 0 || needed.includes(name)));
}

const needed: string[] = [names.crds, names.secrets];
