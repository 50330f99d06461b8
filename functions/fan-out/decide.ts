import { EXTENSION_TYPE, type Shoot } from '../../shared/gardener/types.ts';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';

/**
 * Returns the changes for one Shoot: one for each of its seeds that this deployment serves. During a control plane
 * migration these are two. Shoots without the extension get changes too, because an extension that is enabled for all
 * Shoots is not listed in them; `managed-resources` then finds no Extension and ends.
 */
export function changesFor(shoot: Shoot, servedSeeds: string[], cause: Cause): ChangeRequest[] {
  const namespace = shoot.status?.technicalID;
  // Without it there is no control plane yet, and the first run for its Extension reads the current configuration.
  if (namespace === undefined || isDisabled(shoot)) return [];
  return servedSeeds
    .filter((seed) => seed === shoot.status?.seedName || seed === shoot.spec?.seedName)
    .map((cluster) => ({
      function: 'managed-resources',
      key: { cluster, namespace, name: EXTENSION_TYPE },
      cause,
    }));
}

function isDisabled({ spec }: Shoot): boolean {
  return spec?.extensions?.some(({ type, disabled }) => type === EXTENSION_TYPE && disabled === true) === true;
}

/** Most important first: an Extension may have had this resync already, and the queue would drop it as a duplicate. */
const order: Cause['type'][] = ['object', 'redrive', 'notBefore', 'resync'];

/** Returns the newest cause of the most important type, so that every real change reaches every Extension. */
export function causeToForward(causes: Cause[], now: Date): Cause {
  for (const type of order) {
    const newest = causes.findLast((cause) => cause.type === type);
    if (newest !== undefined) return newest;
  }
  return { type: 'notBefore', notBefore: now.toISOString() };
}
