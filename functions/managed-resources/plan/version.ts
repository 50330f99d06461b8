import { originOf } from '../../../shared/config/origins.ts';
import type { Policy } from '../../../shared/config/policy/policy.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { compareVersions, type ResolvedVersion, resolveVersion } from '../../../shared/flux/versions.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import type { Scope } from './scope.ts';

/** What decides the Flux release. */
export interface VersionInputs {
  config: EffectiveConfig;
  scope: Scope;
  previous: Pick<Applied, 'fluxVersion'> | undefined;
  /** Version of the CRDs in the shoot, where it was read. */
  liveVersion: string | undefined;
  available: string[];
  /** The landscape's policy; absent: all are allowed. */
  policy?: Policy | undefined;
  kubernetesVersion: string | undefined;
  /** True in an operation that gardenlet or a user asked for: only then a newer Flux release is installed. */
  isAsked: boolean;
}

/** Returns the Flux release to render; when Flux itself is out of scope, the recorded one, for its CRDs alone. */
export function chooseVersion(inputs: VersionInputs): ResolvedVersion {
  const { config, scope, previous, liveVersion, available, policy, kubernetesVersion, isAsked } = inputs;
  const pinned = newest(previous?.fluxVersion, liveVersion);
  if (!scope.install && pinned !== undefined && available.includes(pinned)) return { version: pinned };
  const facts = { origin: originOf(config.origins, 'flux.version'), available, kubernetesVersion, mayUpgrade: isAsked };
  // Out of scope, the Flux in the shoot is the user's, and a recorded release that left the distribution must not stop its sources.
  if (!scope.install) return { version: resolveVersion(facts).version };
  return resolveVersion({ ...facts, requested: config.flux.version, policy, pinned });
}

/** Returns the newer of two releases. */
export function newest(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return compareVersions(one, other) >= 0 ? one : other;
}

/**
 * Returns the newest release that was ever installed: from a recorded one that never was, an older one is no downgrade.
 * @param live the release of each CRD in the shoot; a shoot that rejects some CRDs of a release has not installed it
 */
export function everInstalled(previous: Pick<Applied, 'installed'> | undefined, live: string[]): string | undefined {
  const complete = live.toSorted(compareVersions)[0];
  return newest(previous?.installed, complete);
}

/** The record once the shoot has everything: its CRDs count as installed from then on. */
export function withInstalled(record: Applied): Applied {
  if (record.managedResources[names.crds] === undefined) return record;
  const installed = newest(record.installed, record.fluxVersion);
  return installed === record.installed ? record : { ...record, installed };
}
