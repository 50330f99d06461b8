import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, ManagedResource, OperationType } from '../../../shared/gardener/types.ts';
import type { Plan } from '../plan/plan.ts';

/** What decides whether a plan has to wait for the Shoot's turn. */
export interface Situation {
  plan: Pick<Plan, 'record'>;
  previous: Applied | undefined;
  isBootstrapped: boolean;
  live: ReadonlyMap<string, ManagedResource>;
  operation: OperationType;
}

/** Secrets are not among them: rotated credentials never wait. */
const rolledOut = [names.crds, names.controllers, names.sync];

/**
 * Returns whether a plan changes a running Shoot because of an edit of `flux-config`. A new Shoot, one on a new seed and
 * one without its ManagedResources have nothing to keep; what does not come from an edit has its own time.
 */
export function needsTurn({ plan: { record }, previous, isBootstrapped, live, operation }: Situation): boolean {
  if (record.revision === undefined || previous === undefined || !isBootstrapped) return false;
  if (record.revision === previous.revision || operation === 'Restore') return false;
  if (Object.keys(previous.managedResources).some((name) => !live.has(name))) return false;
  return rolledOut.some((name) => record.managedResources[name] !== previous.managedResources[name]);
}
