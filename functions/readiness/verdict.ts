import { configHashSuffix } from '../../shared/gardener/checked.ts';
import type { Applied, Condition } from '../../shared/gardener/types.ts';

/** A condition without its times. */
export type UntimedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message' | 'codes'>;

/** The reason of suspended objects. */
export const SUSPENDED = 'Suspended';

/** The result of assessing one part of Flux in a shoot. */
export interface Verdict extends UntimedCondition {
  type: 'FluxReady' | 'SourceReady' | 'KustomizationReady' | 'ObjectsReady';
  status: 'True' | 'False' | 'Unknown';
}

/** Appends the hash of the configuration that the condition is about to its message. */
export function withConfigHash<T extends UntimedCondition>(condition: T, applied: Applied): T {
  return { ...condition, message: `${condition.message}${configHashSuffix(applied)}` };
}
