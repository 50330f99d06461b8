import { type Extension, OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from '../gardener/types.ts';

/** Why an Extension does not count as done. */
export interface NotReady {
  reason: string;
  /** What the Extension itself reports: tolerated for a while, then it ends the wait. */
  error?: { description: string; codes: string[] };
}

/**
 * The seven rules by which gardenlet takes an Extension for done, in its order; the first that fails counts
 * (facts/gardener.md 1.5).
 * @param timestamp the annotation's value that this run wrote
 */
export function notReady({ metadata, status = {} }: Extension, timestamp: string): NotReady | undefined {
  const { lastOperation, lastError } = status;
  if (metadata.annotations?.[TIMESTAMP_ANNOTATION] !== timestamp) {
    return {
      reason: `annotation "${TIMESTAMP_ANNOTATION}" is not "${timestamp}" but "${metadata.annotations?.[TIMESTAMP_ANNOTATION]}"`,
    };
  }
  if (lastError) {
    const { description, codes = [] } = lastError;
    return {
      reason: `extension encountered error during reconciliation: ${description}`,
      error: { description, codes },
    };
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
