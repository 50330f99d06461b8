import { EXTENSION_TYPE, type Shoot } from '../../shared/gardener/types.ts';
import type { Cause, ChangeRequest } from '../../shared/runtime/change-request.ts';

/**
 * The changes for one Shoot: its current seed and the one it comes from or goes to, as far as this deployment serves
 * them. An auto-enabled extension is not listed in the Shoot, so only an explicit `disabled` leaves one out;
 * managed-resources finds no Extension and ends where there is none.
 */
export function changesFor(shoot: Shoot, seeds: string[], cause: Cause): ChangeRequest[] {
  const namespace = shoot.status?.technicalID;
  // Without one there is no control plane yet, and whoever creates it reads the configuration as it is then.
  if (namespace === undefined || isDisabled(shoot)) return [];
  const served = new Set(
    [shoot.status?.seedName, shoot.spec?.seedName].filter((seed) => seed !== undefined && seeds.includes(seed)),
  );
  return [...served].map((cluster) => ({
    function: 'managed-resources',
    key: { cluster: cluster ?? '', namespace, name: EXTENSION_TYPE },
    cause,
  }));
}

function isDisabled({ spec }: Shoot): boolean {
  return spec?.extensions?.some(({ type, disabled }) => type === EXTENSION_TYPE && disabled === true) === true;
}

/** News before routine: an Extension may have heard of this resync already, and the queue would swallow it. */
const order: Cause['type'][] = ['object', 'redrive', 'notBefore', 'resync'];

/** The cause that is passed on: the newest of the weightiest kind, so that every real change reaches every Extension. */
export function causeToPassOn(causes: Cause[], now: Date): Cause {
  for (const type of order) {
    const newest = causes.findLast((cause) => cause.type === type);
    if (newest !== undefined) return newest;
  }
  return { type: 'notBefore', notBefore: now.toISOString() };
}
