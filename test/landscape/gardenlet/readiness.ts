import { type Extension, OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from '../gardener/types.ts';

/** The reason why an Extension is not ready. */
export interface NotReady {
  reason: string;
  /** The error that the Extension reports; gardenlet tolerates it for a while before it stops waiting. */
  error?: string;
}

/**
 * Returns the first of gardenlet's seven readiness rules that the Extension breaks (rule 1.5).
 * @param timestamp the value of the annotation that this run of gardenlet wrote
 */
export function notReady({ metadata, status = {} }: Extension, timestamp: string): NotReady | undefined {
  const { lastOperation, lastError } = status;
  if (metadata.annotations?.[TIMESTAMP_ANNOTATION] !== timestamp) {
    return {
      reason: `annotation "${TIMESTAMP_ANNOTATION}" is not "${timestamp}" but "${metadata.annotations?.[TIMESTAMP_ANNOTATION]}"`,
    };
  }
  if (lastError) {
    const { description: error } = lastError;
    return { reason: `extension encountered error during reconciliation: ${error}`, error };
  }
  if (status.observedGeneration !== metadata.generation) {
    return { reason: `observed generation outdated (${status.observedGeneration ?? 0}/${metadata.generation})` };
  }
  const operation = metadata.annotations?.[OPERATION_ANNOTATION];
  if (operation !== undefined)
    return { reason: `gardener operation "${operation}" is not yet picked up by controller` };
  if (lastOperation === undefined) return { reason: 'extension did not record a last operation yet' };
  if (lastOperation.state !== 'Succeeded') {
    return { reason: `extension state is not succeeded but ${lastOperation.state}` };
  }
  const begun = Math.floor(Date.parse(timestamp) / 1000) * 1000;
  if (begun > Date.parse(lastOperation.lastUpdateTime)) {
    return { reason: `last operation was updated before this run began (${lastOperation.lastUpdateTime})` };
  }
  return undefined;
}
