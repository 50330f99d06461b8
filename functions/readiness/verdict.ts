import type { Applied, Condition } from '../../shared/gardener/types.ts';

/** A condition without its times. */
export type Told = Pick<Condition, 'type' | 'status' | 'reason' | 'message' | 'codes'>;

/** Reason of what somebody has suspended. */
export const SUSPENDED = 'Suspended';

/** What is judged of a shoot. */
export interface Verdict extends Told {
  type: 'FluxReady' | 'SourceReady' | 'KustomizationReady';
  status: 'True' | 'False' | 'Unknown';
}

/** The same, and which configuration it is told of. */
export function hashed<T extends Told>(told: T, applied: Applied): T {
  return { ...told, message: `${told.message}${hashText(applied)}` };
}

/** At the end of what is told. */
export function hashText({ configHash }: Applied): string {
  return ` (config ${configHash})`;
}
