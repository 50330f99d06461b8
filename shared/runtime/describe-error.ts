import { errorMessage, ShootFluxError } from '../errors.ts';
import { KubeError } from '../kube/errors.ts';
import { safeText } from './safe-text.ts';

/** Of an API server, for which a webhook may have spoken. */
const LONGEST_ANSWER = 1000;

/**
 * What may be said about an error in logs, dead letters, status and conditions. Our own errors never contain a Secret; those of parsers
 * quote what they parse, so of foreign errors only name and place are told, unless they come from the network or AWS.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return `A ${typeof error} was thrown`;
  if (error instanceof KubeError) return safeText(error.message, LONGEST_ANSWER);
  if (error instanceof ShootFluxError || 'syscall' in error || '$metadata' in error) return errorMessage(error);
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return [error.name, frames[0]?.trim()].filter(Boolean).join(' ');
}
