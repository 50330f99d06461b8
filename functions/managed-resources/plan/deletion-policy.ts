import { deletionPolicies } from '../../../shared/config/flux-options.ts';
import type { ConfigInputs, DeletionPolicy } from '../../../shared/config/types.ts';
import { asObject } from '../../../shared/config/values.ts';

/**
 * Returns the deletion policy that the layers write, whatever else is wrong with them: a typo beside it must not remove a
 * Flux that was to stay. A policy that is neither of the two values counts as `Orphan`, which loses nothing (decision 31).
 * @returns undefined when no layer sets it, or the layer that may set it cannot be read; the record counts then
 */
export function writtenDeletionPolicy({ fluxConfig, providerConfig }: ConfigInputs): DeletionPolicy | undefined {
  if (isSet(providerConfig)) {
    const config = asObject(providerConfig);
    if (config === undefined) return undefined;
    if (isSet(config.deletionPolicy)) return policyOf(config.deletionPolicy);
  }
  const written = asObject(fluxConfig?.data)?.deletionPolicy;
  const value = typeof written === 'string' ? written.trim() : written;
  return isSet(value) ? policyOf(value) : undefined;
}

/** Go programs write null and the empty string for absent fields. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function policyOf(value: unknown): DeletionPolicy {
  return deletionPolicies.find((policy) => policy === value) ?? 'Orphan';
}
