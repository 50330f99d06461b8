import { DNS_LABEL, type ObjectMeta } from '../kube/resource.ts';
import type { Cause, ChangeRequest } from '../runtime/change-request.ts';
import { entriesAt } from '../shapes.ts';
import { EXTENSION_TYPE, type Shoot } from './types.ts';

/** The namespace of the control plane in a self-hosted Shoot (rule 2.1.1). */
export const SELF_HOSTED = 'kube-system';

/** True for a Shoot that runs its own control plane: one of its worker pools is for it (GEP-28). */
export function isSelfHosted({ spec }: { spec?: unknown }): boolean {
  return entriesAt(spec, 'provider', 'workers').some(({ controlPlane }) => controlPlane != null);
}

/** Returns the name under which a deployment serves the self-hosted Shoot that it runs in, which has no seed. */
export function selfHostedCluster({ namespace, name }: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  // Unique in the garden, where names are not: they may be those of seeds, and other projects may use them as well.
  return `shoot--${namespace}--${name}`;
}

/**
 * Returns the namespace of the project whose self-hosted Shoots are all that a deployment serves: it has rights nowhere else
 * in the garden (decision 101).
 */
export function onlyProjectOf(clusters: readonly string[]): string | undefined {
  // The name of a Shoot has no `--`.
  const [project, ...others] = new Set(clusters.map((cluster) => /^shoot--(garden.*)--/.exec(cluster)?.[1]));
  return others.length === 0 ? project : undefined;
}

/** Returns the namespace of a Shoot's control plane; undefined, or empty as the garden stores it: it has none yet. */
export function controlPlaneOf(shoot: Shoot): string | undefined {
  return isSelfHosted(shoot) ? SELF_HOSTED : shoot.status?.technicalID;
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
  const namespace = controlPlaneOf(shoot);
  // Without a control plane, the first run for its Extension reads the current configuration.
  if (namespace === undefined || !DNS_LABEL.test(namespace) || isDisabled(shoot)) return [];
  const clusters = isSelfHosted(shoot) ? [selfHostedCluster(metadata)] : [status?.seedName, spec?.seedName];
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
