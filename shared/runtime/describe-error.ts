import { errorMessage, ShootFluxError } from '../errors.ts';
import { KubeError } from '../kube/errors.ts';
import { safeText } from './safe-text.ts';

/** Messages of API servers may quote a webhook at any length. */
const LONGEST_KUBE_MESSAGE = 1000;

/**
 * Returns what logs, dead letters, status and conditions may say about an error. Our own errors never contain a Secret.
 * Parsers quote their input, so other errors are reduced to name and place, unless they come from the network or AWS.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return `A ${typeof error} was thrown`;
  if (error instanceof KubeError) return safeText(error.message, LONGEST_KUBE_MESSAGE);
  if (error instanceof ShootFluxError || 'syscall' in error || '$metadata' in error) return errorMessage(error);
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return [error.name, frames[0]?.trim()].filter(Boolean).join(' ');
}
