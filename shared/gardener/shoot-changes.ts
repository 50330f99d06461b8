import type { Cause, ChangeRequest } from '../runtime/change-request.ts';
import { EXTENSION_TYPE, type Shoot } from './types.ts';

/** The name of a namespace. A change with another one could not be read. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * Returns the changes for one Shoot: one for each of its seeds that this deployment serves. During a control plane
 * migration these are two. Shoots without the extension get changes too, because an extension that is enabled for all
 * Shoots is not listed in them; `managed-resources` then finds no Extension and ends.
 * @param name of the function, whose keys are Extensions
 */
export function changesFor(
  shoot: Shoot,
  servedSeeds: string[],
  cause: Cause,
  name: 'managed-resources' | 'project-status' = 'managed-resources',
): ChangeRequest[] {
  const namespace = shoot.status?.technicalID;
  // Absent, or empty as the Gardener API server stores it: there is no control plane yet, and the first run for its
  // Extension reads the current configuration.
  if (namespace === undefined || !NAMESPACE.test(namespace) || isDisabled(shoot)) return [];
  return servedSeeds
    .filter((seed) => seed === shoot.status?.seedName || seed === shoot.spec?.seedName)
    .map((cluster) => ({
      function: name,
      key: { cluster, namespace, name: EXTENSION_TYPE },
      cause,
    }));
}

function isDisabled({ spec }: Shoot): boolean {
  const extensions = spec?.extensions;
  // A Shoot with too many values is read without some of them.
  if (!Array.isArray(extensions)) return false;
  return extensions.some(({ type, disabled }) => type === EXTENSION_TYPE && disabled === true);
}
