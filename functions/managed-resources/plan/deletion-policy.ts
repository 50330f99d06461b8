import { trimmed } from '../../../shared/config/flux-config.ts';
import { documentsOf } from '../../../shared/config/flux-config-map.ts';
import { deletionPolicies } from '../../../shared/config/flux-options.ts';
import { overridesOf } from '../../../shared/config/overrides.ts';
import type { ConfigInputs, DeletionPolicy } from '../../../shared/config/types.ts';
import { asObject } from '../../../shared/config/values.ts';

/**
 * Returns the deletion policy that the layers write, whatever else is wrong with them: a typo beside it must not remove a
 * Flux that was to stay. A policy that is neither of the two values counts as `Orphan`, which loses nothing (decision 31).
 * @returns undefined when no layer sets it, or the layer that may set it cannot be read; the record counts then
 */
export function writtenDeletionPolicy(layers: ConfigInputs): DeletionPolicy | undefined {
  for (const written of writtenLayers(layers)) {
    if (written === undefined || written === null) continue;
    const config = asObject(written);
    if (config === undefined) return undefined;
    const { deletionPolicy } = config;
    // Go programs write null and the empty string for absent fields.
    const isSet = deletionPolicy !== undefined && deletionPolicy !== null && deletionPolicy !== '';
    if (isSet) return deletionPolicies.find((policy) => policy === deletionPolicy) ?? 'Orphan';
  }
  return undefined;
}

const UNREADABLE = 'unreadable';

/** Returns the layers as they were written, highest first; a text stands for one that cannot be read. */
function writtenLayers({ fluxConfig, providerConfig, shoot }: ConfigInputs): unknown[] {
  const ofShoot = providerConfig === '' ? undefined : providerConfig;
  if (fluxConfig === undefined) return [ofShoot];
  const { config, overrides } = documentsOf(fluxConfig);
  const selected = shoot === undefined ? [] : overridesOf(overrides, shoot.labels);
  return [
    ofShoot,
    // An entry that cannot be read may be the one that sets the policy.
    ...(overrides.issues.length > 0 ? [UNREADABLE] : selected.map(({ config: written }) => written).toReversed()),
    config.issues.length > 0 ? UNREADABLE : config.value,
    trimmed(fluxConfig.data),
  ];
}
