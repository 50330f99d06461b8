import type { EffectiveConfig } from '../../../shared/config/effective.ts';
import { originOf } from '../../../shared/config/origins.ts';
import { compareVersions, resolveVersion } from '../../../shared/flux/versions.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import type { Followed } from './follow.ts';

export interface VersionInputs {
  config: EffectiveConfig;
  follow: Followed;
  previous: Applied | undefined;
  /** What the shoot's CRDs say, when they were asked. */
  liveVersion: string | undefined;
  /** True: the shoot does not take the CRDs of the release on record. */
  refused: boolean;
  available: string[];
  kubernetesVersion: string | undefined;
  /** True in an operation that gardenlet started: only then a merely newer distribution counts (design 6). */
  asked: boolean;
}

/** The release to render. Where Flux itself is no longer followed, the one that is on record only lends its CRDs. */
export function chooseVersion(inputs: VersionInputs): string {
  const { config, follow, previous, liveVersion, refused, available, kubernetesVersion, asked } = inputs;
  const pinned = newest(previous?.fluxVersion, liveVersion);
  if (!follow.install && pinned !== undefined && available.includes(pinned)) return pinned;
  const wanted = follow.install ? config.flux.version : undefined;
  return resolveVersion({
    wanted,
    origin: originOf(config.origins, 'flux.version'),
    available,
    kubernetesVersion,
    // A pin that is unfollowed and no longer in the distribution must not stop the user's sources; and what has never
    // got into the shoot is not downgraded by asking for an older release.
    pinned: follow.install && !(refused && wanted !== undefined) ? pinned : undefined,
    mayUpgrade: asked,
  });
}

function newest(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return compareVersions(one, other) >= 0 ? one : other;
}
