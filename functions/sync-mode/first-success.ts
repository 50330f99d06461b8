import { seconds } from '../../shared/gardener/operation.ts';
import type { Applied, Bootstrapped, Extension } from '../../shared/gardener/types.ts';

/** Whether to record the first success, as far as the Extension alone decides it. */
export type Decision =
  | { type: 'nothing to record' }
  /** The Go extension of stackitcloud bootstrapped this Shoot; its condition says when. */
  | { type: 'record'; at: string }
  /** Record it if the ManagedResources are applied. */
  | { type: 'check ManagedResources' };

/** Decides from the Extension alone: most runs end here, without another request. */
export function decideFromExtension(extension: Extension): Decision {
  const { state, providerStatus, conditions } = extension.status ?? {};
  const applied = state?.applied;
  if (applied === undefined || state?.bootstrapped !== undefined) return { type: 'nothing to record' };
  const former = conditions?.find(({ type, status }) => type === 'FluxBootstrapped' && status === 'True');
  if (former !== undefined) return { type: 'record', at: former.lastTransitionTime };
  // Pending removals finish first: a mode that releases its objects now would leave them in the shoot.
  if ((applied.leaving?.length ?? 0) > 0) return { type: 'nothing to record' };
  const isConfigured =
    applied.source !== undefined || applied.kustomization !== undefined || applied.others !== undefined;
  const flux = providerStatus?.flux;
  // Ready counts only for the applied configuration: one that has never worked must not be released to the user.
  const isReady = flux?.ready === true && flux.configHash === applied.configHash;
  if (isConfigured && !isReady) return { type: 'nothing to record' };
  return { type: 'check ManagedResources' };
}

/** Returns the record of the first success. */
export function bootstrapRecord({ fluxVersion, configHash }: Applied, at: Date | string): Bootstrapped {
  return { at: typeof at === 'string' ? at : seconds(at.getTime()), fluxVersion, configHash };
}
