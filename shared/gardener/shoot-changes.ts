import { DNS_LABEL } from '../kube/resource.ts';
import type { Cause, ChangeRequest } from '../runtime/change-request.ts';
import { EXTENSION_TYPE, type Shoot } from './types.ts';

/** The namespace of the control plane in a self-hosted Shoot (rule 2.1.1). */
const SELF_HOSTED = 'kube-system';

/** Returns the name under which a deployment serves the self-hosted Shoot that it runs in, which has no seed. */
export function selfHostedCluster(shoot: string): string {
  // It may be called garden, or like a seed.
  return `shoot--${shoot}`;
}

/** The functions that work on what `fan-out` sends. */
export type Receiver = 'managed-resources' | 'project-status' | 'push';

/**
 * Returns the changes for one Shoot: one for each of its seeds that this deployment serves, or for the self-hosted Shoot
 * itself. During a control plane migration these are two. Shoots without the extension get changes too, because an
 * extension that is enabled for all Shoots is not listed in them; `managed-resources` then finds no Extension and ends.
 * @param name of the function, whose keys are Extensions
 */
export function changesFor(
  shoot: Shoot,
  servedSeeds: string[],
  cause: Cause,
  name: Receiver = 'managed-resources',
): ChangeRequest[] {
  const { metadata, spec, status } = shoot;
  const isOnSeed = Boolean(status?.seedName || spec?.seedName);
  const namespace = isOnSeed ? status?.technicalID : SELF_HOSTED;
  // Absent, or empty as the Gardener API server stores it: there is no control plane yet, and the first run for its
  // Extension reads the current configuration.
  if (namespace === undefined || !DNS_LABEL.test(namespace) || isDisabled(shoot)) return [];
  const clusters = isOnSeed ? [status?.seedName, spec?.seedName] : [selfHostedCluster(metadata.name)];
  return servedSeeds
    .filter((seed) => clusters.includes(seed))
    .map((cluster) => ({
      function: name,
      key: { cluster, namespace, name: EXTENSION_TYPE },
      cause,
    }));
}

/** Returns the changes for Shoots that a rollout of the landscape calls `SEED/NAMESPACE`, on the seeds of this deployment. */
export function changesInLandscape(names: readonly string[], servedSeeds: string[], cause: Cause): ChangeRequest[] {
  return names.flatMap((name) => {
    const [cluster = '', namespace = ''] = name.split('/');
    const key = { cluster, namespace, name: EXTENSION_TYPE };
    return servedSeeds.includes(cluster) ? [{ function: 'managed-resources', key, cause }] : [];
  });
}

/** True for a Shoot that disables the extension. Where it is enabled for all Shoots, they do not list it. */
export function isDisabled({ spec }: Pick<Shoot, 'spec'>): boolean {
  const extensions = spec?.extensions;
  // A Shoot with too many values is read without some of them.
  if (!Array.isArray(extensions)) return false;
  return extensions.some(({ type, disabled }) => type === EXTENSION_TYPE && disabled === true);
}
