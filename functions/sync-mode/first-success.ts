import type { Extension } from '../../shared/gardener/types.ts';

/**
 * Returns a first success that is to be recorded, as far as the Extension alone decides it: most runs end here, without
 * another request. Undefined: there is none.
 * @returns with the time where the Go extension of stackitcloud bootstrapped this Shoot, as its condition says; without
 * one, it is recorded if the ManagedResources are applied
 */
export function firstSuccess({ status = {} }: Extension): { at?: string } | undefined {
  const { state, providerStatus, conditions } = status;
  const applied = state?.applied;
  if (applied === undefined || state?.bootstrapped !== undefined) return undefined;
  const former = conditions?.find(({ type, status }) => type === 'FluxBootstrapped' && status === 'True');
  if (former !== undefined) return { at: former.lastTransitionTime };
  // Pending removals finish first: a mode that releases its objects now would leave them in the shoot.
  if ((applied.leaving?.length ?? 0) > 0) return undefined;
  const isConfigured =
    applied.source !== undefined || applied.kustomization !== undefined || applied.others !== undefined;
  const flux = providerStatus?.flux;
  // Ready counts only for the applied configuration: one that has never worked must not be released to the user.
  const isReady = flux?.ready === true && flux.configHash === applied.configHash;
  return isConfigured && !isReady ? undefined : {};
}
