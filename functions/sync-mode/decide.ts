import { seconds } from '../../shared/gardener/operation.ts';
import type { Bootstrapped, Extension } from '../../shared/gardener/types.ts';

/** What the Extension alone tells. */
export type FirstLook =
  | { type: 'nothing to record' }
  /** The Go extension of stackitcloud bootstrapped this Shoot; its condition says when. */
  | { type: 'record'; at: string }
  /** The ManagedResources decide. */
  | { type: 'ask' };

/** Most runs end here: it costs no request. */
export function firstLook(extension: Extension): FirstLook {
  const { state, providerStatus, conditions } = extension.status ?? {};
  const applied = state?.applied;
  if (applied === undefined || state?.bootstrapped !== undefined) return { type: 'nothing to record' };
  const former = conditions?.find(({ type, status }) => type === 'FluxBootstrapped' && status === 'True');
  if (former !== undefined) return { type: 'record', at: former.lastTransitionTime };
  // What is on its way out is dropped first: a mode that lets go now would leave it in the shoot.
  if ((applied.leaving?.length ?? 0) > 0) return { type: 'nothing to record' };
  const configured = applied.source !== undefined || applied.kustomization !== undefined;
  const flux = providerStatus?.flux;
  // Where something is configured, it has to be Ready in the shoot for this very configuration (design 5).
  if (configured && !(flux?.ready === true && flux.configHash === applied.configHash))
    return { type: 'nothing to record' };
  return { type: 'ask' };
}

/** The record, or undefined without anything applied. */
export function bootstrapRecord(extension: Extension, at: Date | string): Bootstrapped | undefined {
  const applied = extension.status?.state?.applied;
  if (applied === undefined) return undefined;
  const time = typeof at === 'string' ? at : seconds(at.getTime());
  return { at: time, fluxVersion: applied.fluxVersion, configHash: applied.configHash };
}
