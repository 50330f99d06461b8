import { originOf } from '../../../shared/config/origins.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { compareVersions, resolveVersion } from '../../../shared/flux/versions.ts';
import { applyState, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { Scope } from './scope.ts';

export interface VersionInputs {
  config: EffectiveConfig;
  scope: Scope;
  previous: Applied | undefined;
  /** Version of the CRDs in the shoot, where it was read. */
  liveVersion: string | undefined;
  /** True: the shoot rejects the CRDs of the recorded Flux release. */
  areCrdsRejected: boolean;
  available: string[];
  kubernetesVersion: string | undefined;
  /** True in an operation that gardenlet or a user asked for: only then a newer Flux release is installed. */
  isAsked: boolean;
}

/** Returns the Flux release to render; when Flux itself is out of scope, the recorded one, for its CRDs alone. */
export function chooseVersion(inputs: VersionInputs): string {
  const { config, scope, previous, liveVersion, areCrdsRejected, available, kubernetesVersion, isAsked } = inputs;
  const pinned = newest(previous?.fluxVersion, liveVersion);
  if (!scope.install && pinned !== undefined && available.includes(pinned)) return pinned;
  const requested = scope.install ? config.flux.version : undefined;
  return resolveVersion({
    requested,
    origin: originOf(config.origins, 'flux.version'),
    available,
    kubernetesVersion,
    // Out of scope, a recorded release that left the distribution must not stop the user's sources. And a release that
    // the shoot rejected was never installed, so an older one is no downgrade.
    pinned: scope.install && !(areCrdsRejected && requested !== undefined) ? pinned : undefined,
    mayUpgrade: isAsked,
  });
}

function newest(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return compareVersions(one, other) >= 0 ? one : other;
}

/** True when the recorded CRDs are not in the shoot, because it rejects them. */
export function areCrdsRejected(previous: Applied | undefined, crds: ManagedResource | undefined): boolean {
  if (previous?.delivery === 'Direct') {
    return previous.delivered?.[names.crds] !== previous.managedResources[names.crds];
  }
  return crds !== undefined && applyState(crds).state === 'failing';
}
