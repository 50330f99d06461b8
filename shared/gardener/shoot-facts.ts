import type { ShootTraits } from '../config/types.ts';
import type { ShootFacts } from '../flux/release.ts';
import type { Settings } from '../runtime/context.ts';
import type { Cluster, Shoot } from './types.ts';

/**
 * Returns facts of a Shoot for substitution by Flux. `info` has the keys of the Go extension's ConfigMap; `facts` are
 * ours, under names that Flux can substitute. Everything in a Shoot may be absent (traps 33, 34): then `info` has an
 * empty text, because Flux refuses to substitute a missing key, and `facts` omits the key.
 */
export function shootFacts(cluster: Cluster, settings: Pick<Settings, 'gardenIdentity'>): ShootFacts {
  const { shoot } = cluster.spec;
  const { clusterIdentity } = shoot.status ?? {};
  // Empty as long as a Shoot is scheduled and not begun.
  const technicalID = shoot.status?.technicalID || cluster.metadata.name;
  return {
    info: {
      SHOOT_INFO_NAME: shoot.metadata.name,
      SHOOT_INFO_TECHNICAL_ID: technicalID,
      SHOOT_INFO_CLUSTER_IDENTITY: clusterIdentity ?? '',
      SHOOT_INFO_GARDEN_CLUSTER_IDENTITY: settings.gardenIdentity ?? gardenIdentity(shoot) ?? '',
    },
    facts: known({
      SHOOT_NAME: shoot.metadata.name,
      SHOOT_NAMESPACE: shoot.metadata.namespace,
      SHOOT_PROJECT: project(shoot, technicalID),
      SHOOT_UID: shoot.status?.uid ?? shoot.metadata.uid,
      SHOOT_PROVIDER: shoot.spec?.provider?.type,
      SHOOT_REGION: shoot.spec?.region,
      SHOOT_CLOUD_PROFILE: shoot.spec?.cloudProfile?.name ?? shoot.spec?.cloudProfileName,
      SHOOT_PURPOSE: shoot.spec?.purpose,
      SHOOT_KUBERNETES_VERSION: shoot.spec?.kubernetes?.version,
      SHOOT_DOMAIN: shoot.spec?.dns?.domain,
      SHOOT_POD_NETWORK: shoot.spec?.networking?.pods,
      SHOOT_SERVICE_NETWORK: shoot.spec?.networking?.services,
      SHOOT_NODE_NETWORK: shoot.spec?.networking?.nodes,
      SHOOT_MAINTENANCE_BEGIN: shoot.spec?.maintenance?.timeWindow?.begin,
      SHOOT_MAINTENANCE_END: shoot.spec?.maintenance?.timeWindow?.end,
    }),
  };
}

/** A cluster identity is `<technicalID>-<uid>-<garden's identity>`. */
function gardenIdentity({ status }: Shoot): string | undefined {
  if (!status?.technicalID || !status.uid) return undefined;
  const prefix = `${status.technicalID}-${status.uid}-`;
  const identity = status.clusterIdentity;
  return identity?.startsWith(prefix) ? identity.slice(prefix.length) : undefined;
}

/** A technical ID is `shoot--<project>--<name>`; the name of a project's namespace is free. */
function project({ metadata }: Shoot, technicalID: string): string | undefined {
  const [prefix, end] = ['shoot--', `--${metadata.name}`];
  if (technicalID.startsWith(prefix) && technicalID.endsWith(end)) return technicalID.slice(prefix.length, -end.length);
  return /^garden-(.+)$/.exec(metadata.namespace ?? '')?.[1];
}

function known(facts: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(facts).filter((fact): fact is [string, string] => typeof fact[1] === 'string'),
  );
}

/** Gardener changes it with the health of the Shoot; a configuration must not change with it. */
const STATUS = 'shoot.gardener.cloud/status';

/** Returns the labels of a Shoot that its configuration may depend on. */
export function traitLabels({ metadata }: Shoot): Record<string, string> {
  const labels = Object.entries(metadata.labels ?? {});
  return Object.fromEntries(labels.filter(([key, value]) => key !== STATUS && typeof value === 'string'));
}

/** Returns what the configuration of a Shoot may depend on. */
export function shootTraits(cluster: Cluster): ShootTraits {
  // The garden's identity is in none of them.
  return { labels: traitLabels(cluster.spec.shoot), facts: shootFacts(cluster, {}).facts };
}
