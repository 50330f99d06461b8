import type { Condition } from '../../shared/gardener/types.ts';

/** A condition without its times. */
export type Told = Pick<Condition, 'type' | 'status' | 'reason' | 'message' | 'codes'>;

/** Reason of what somebody has suspended. */
export const SUSPENDED = 'Suspended';

/** What is judged of a shoot. */
export interface Verdict extends Told {
  type: 'FluxReady' | 'SourceReady' | 'KustomizationReady';
  status: 'True' | 'False' | 'Unknown';
}
