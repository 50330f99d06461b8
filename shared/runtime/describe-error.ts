import { errorMessage, ShootFluxError } from './errors.ts';

/**
 * What may be said about an error in logs, dead letters, status and conditions. Our own errors never contain a Secret; those of parsers
 * quote what they parse, so of foreign errors only name and place are told, unless they come from the network or AWS.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return `A ${typeof error} was thrown`;
  if (error instanceof ShootFluxError || 'syscall' in error || '$metadata' in error) return errorMessage(error);
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return [error.name, frames[0]?.trim()].filter(Boolean).join(' ');
}
